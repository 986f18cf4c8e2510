import { ApiError } from "../errors/index.ts";
import { latin1Text } from "./byte-text.ts";
import { concatInSteps } from "./concat-bytes.ts";
import { cutBefore } from "./cut-before.ts";
import { type CutJson, type CutString, MARK, MARK_END } from "./json-cut.ts";
import { stringText } from "./json-string.ts";

const MARK_BYTES = Buffer.from(MARK);

/** Bytes read in one step: some milliseconds of work. */
const STEP_BYTES = 4 * 1_048_576;
/** Maximum size of all strings of a body, as written, that become parts of others. */
const MAX_PART_BYTES = 4 * 1_048_576;

/** A cut string, and the text put before it since. */
interface LongString {
	readonly cut: CutString;
	readonly before: string;
}

/**
 * The strings that are cut in the parsed copy of a body. A string of the copy may have grown at its beginning since.
 * JSON written from the copy has the string's mark, and is completed at the end (`whole`).
 */
export class LongStrings {
	static readonly none = new LongStrings(new Uint8Array(0), []);
	/** The body as received. */
	readonly original: Uint8Array;
	readonly #cuts: readonly CutString[];
	#partBytes = 0;

	constructor(original: Uint8Array, cuts: CutJson["cuts"]) {
		this.original = original;
		this.#cuts = cuts;
	}

	get isEmpty(): boolean {
		return this.#cuts.length === 0;
	}

	/** Returns the size of a copy's string in the body in bytes; of an uncut one, its characters. */
	bytesOf(text: string): number {
		const long = this.#find(text);
		return long === null ? text.length : Buffer.byteLength(long.before) + long.cut.bytes;
	}

	/**
	 * Returns a cut string as its body writes it, with escapes: a view of the body, and the text now before it. null: the
	 * string was not cut.
	 */
	viewOf(text: string): { readonly before: string; readonly bytes: Uint8Array } | null {
		const long = this.#find(text);
		return long === null ? null : { before: long.before, bytes: this.#content(long.cut) };
	}

	/** Returns a string of the copy whole, as the body has it. */
	textOf(text: string): string {
		const long = this.#find(text);
		return long === null ? text : long.before + stringText(this.#content(long.cut));
	}

	/**
	 * Returns a whole string that becomes part of another one.
	 * @throws ApiError INVALID_REQUEST if all such strings of a body pass 4 MiB
	 */
	partTextOf(text: string): string {
		const long = this.#find(text);
		if (long === null) return text;
		this.#partBytes += long.cut.bytes;
		if (this.#partBytes > MAX_PART_BYTES)
			throw new ApiError("INVALID_REQUEST", {
				message: `Arguments, thoughts and results of tools have more than ${MAX_PART_BYTES} bytes together`,
			});
		return this.textOf(text);
	}

	/** Returns a value of the copy as JSON that becomes part of a string. Throws as `partTextOf` does. */
	partJsonOf(value: unknown): string {
		if (this.isEmpty) return JSON.stringify(value);
		return JSON.stringify(value, (_, item: unknown) => (typeof item === "string" ? this.partTextOf(item) : item));
	}

	/** Returns the first characters of the string, or a few less. */
	startOf(text: string, characters: number): string {
		const long = this.#find(text);
		if (long === null) return text.slice(0, characters);
		const { start, bytes } = long.cut;
		const end = cutBefore(this.original, start, start + Math.min(bytes, characters));
		return (long.before + stringText(this.original.subarray(start, end))).slice(0, characters);
	}

	/** Returns the last characters of the string, or a few less. */
	endOf(text: string, characters: number): string {
		const long = this.#find(text);
		if (long === null) return text.slice(-characters);
		const { start, bytes } = long.cut;
		const from = cutBefore(this.original, start, start + Math.max(0, bytes - characters));
		return stringText(this.original.subarray(from, start + bytes)).slice(-characters);
	}

	/** Bytes of UTF-8 of the string's text: without its escapes. Runs in steps. */
	*textBytesOf(text: string): Generator<undefined, number> {
		const long = this.#find(text);
		if (long === null) return Buffer.byteLength(text);
		const { start, bytes } = long.cut;
		let size = Buffer.byteLength(long.before);
		for (let at = start; at < start + bytes; ) {
			const end = Math.min(at + STEP_BYTES, start + bytes);
			const pieceEnd = end === start + bytes ? end : cutBefore(this.original, at, end);
			size += Buffer.byteLength(stringText(this.original.subarray(at, pieceEnd)));
			at = pieceEnd;
			yield;
		}
		return size;
	}

	/** Returns a value of the copy as JSON text, its cut strings whole. */
	jsonOf(value: unknown): string {
		if (this.isEmpty) return JSON.stringify(value);
		return JSON.stringify(value, (_, item: unknown) => (typeof item === "string" ? this.textOf(item) : item));
	}

	/** Returns the size of a part of such JSON once completed. */
	sizeIn(json: Uint8Array, start: number, end: number): number {
		let size = end - start;
		for (const { cut, from, to } of this.#marksIn(json, start, end)) size += cut.bytes - cut.keptBytes - (to - from);
		return size;
	}

	/**
	 * Puts the cut strings back into JSON made of strings of the parsed copy. Their bytes are those of the body. Runs in
	 * steps.
	 */
	*whole(json: Uint8Array): Generator<undefined, Uint8Array> {
		const pieces: Uint8Array[] = [];
		let keptTo = 0;
		for (const { cut, from, to } of this.#marksIn(json, 0, json.length)) {
			pieces.push(json.subarray(keptTo, from), this.#content(cut).subarray(cut.keptBytes));
			keptTo = to;
		}
		if (keptTo === 0) return json;
		pieces.push(json.subarray(keptTo));
		return yield* concatInSteps(pieces);
	}

	*#marksIn(json: Uint8Array, start: number, end: number): Generator<{ cut: CutString; from: number; to: number }, void> {
		if (this.isEmpty) return;
		const bytes = Buffer.from(json.buffer, json.byteOffset, end);
		for (let from = bytes.indexOf(MARK_BYTES, start); from >= 0; from = bytes.indexOf(MARK_BYTES, from + MARK_BYTES.length)) {
			const to = bytes.indexOf(MARK_END, from + MARK_BYTES.length) + MARK_END.length;
			const cut = this.#cuts[Number(latin1Text(bytes, from + MARK_BYTES.length, to - MARK_END.length))];
			if (cut !== undefined) yield { cut, from, to };
		}
	}

	#content({ start, bytes }: CutString): Uint8Array {
		return this.original.subarray(start, start + bytes);
	}

	#find(text: string): LongString | null {
		if (this.#cuts.length === 0 || !text.endsWith(MARK_END)) return null;
		const at = text.lastIndexOf(MARK);
		const cut = at < 0 ? undefined : this.#cuts[Number(text.slice(at + MARK.length, -MARK_END.length))];
		if (cut === undefined) return null;
		return { cut, before: text.slice(0, at - cut.keptChars) };
	}
}
