import { randomBytes } from "node:crypto";
import type { ElidedString } from "./json-elide.ts";

/** Stands at the end of each cut string, with its number. Random in each process: no caller can write one. */
const MARK = `[cut ${randomBytes(16).toString("hex")} `;
const MARK_END = "]";

/** What the copy has in place of the rest of the string with this number: ASCII that needs no escape. */
export function cutMark(index: number): string {
	return `${MARK}${index}${MARK_END}`;
}

/** The strings of a body of which its parsed copy has only the beginning. */
export class LongStrings {
	static readonly none = new LongStrings(new Uint8Array(0), []);
	readonly #raw: Uint8Array;
	readonly #elided: readonly ElidedString[];

	constructor(raw: Uint8Array, elided: readonly ElidedString[]) {
		this.#raw = raw;
		this.#elided = elided;
	}

	/** Bytes of a string of the parsed copy as its body has it; of one that was not cut, its characters. */
	bytesOf(text: string): number {
		return this.#find(text)?.bytes ?? text.length;
	}

	/** A cut string as its body writes it, escapes and all: a view of the body. null: the string was not cut. */
	viewOf(text: string): Uint8Array | null {
		const cut = this.#find(text);
		return cut === undefined ? null : this.#raw.subarray(cut.start, cut.start + cut.bytes);
	}

	/** A string of the parsed copy as its body has it, whole. */
	textOf(text: string): string {
		const cut = this.#find(text);
		if (cut === undefined) return text;
		const bytes = this.#raw.subarray(cut.start, cut.start + cut.bytes);
		return JSON.parse(`"${new TextDecoder().decode(bytes)}"`) as string;
	}

	/** A value of the parsed copy as JSON text, its cut strings whole. */
	jsonOf(value: unknown): string {
		if (this.#elided.length === 0) return JSON.stringify(value);
		return JSON.stringify(value, (_, item: unknown) => (typeof item === "string" ? this.textOf(item) : item));
	}

	/**
	 * A value made of strings of the parsed copy as JSON, its cut strings whole: their bytes are those of the body.
	 * A string may have grown at its beginning, and at its end only where it was not cut.
	 */
	write(value: unknown): Uint8Array {
		const json = JSON.stringify(value);
		if (this.#elided.length === 0) return Buffer.from(json);
		const pieces: Uint8Array[] = [];
		let writtenTo = 0;
		for (let at = json.indexOf(MARK); at >= 0; at = json.indexOf(MARK, writtenTo)) {
			const end = json.indexOf(MARK_END, at + MARK.length);
			const cut = this.#elided[Number(json.slice(at + MARK.length, end))];
			pieces.push(Buffer.from(json.slice(writtenTo, at)));
			if (cut !== undefined) pieces.push(this.#raw.subarray(cut.start + cut.keptBytes, cut.start + cut.bytes));
			writtenTo = end + MARK_END.length;
		}
		pieces.push(Buffer.from(json.slice(writtenTo)));
		return Buffer.concat(pieces);
	}

	#find(text: string): ElidedString | undefined {
		if (this.#elided.length === 0 || !text.endsWith(MARK_END)) return undefined;
		const at = text.lastIndexOf(MARK);
		return at < 0 ? undefined : this.#elided[Number(text.slice(at + MARK.length, -MARK_END.length))];
	}
}
