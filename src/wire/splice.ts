import type { ByteRange } from "./json-scan.ts";

const copy = Buffer.prototype.copy;

/** Content that a splice inserts: text, bytes, or another splice. */
export type Insertion = string | Uint8Array | Splice;

/**
 * A new text of ranges of an old one and insertions between them. `bytes` joins everything with one copy, however
 * deeply splices are nested.
 */
export class Splice {
	readonly #source: Uint8Array;
	readonly #parts: (ByteRange | Insertion)[] = [];
	/** The last range, which grows while adjacent ranges are added. */
	#start = 0;
	#end = 0;

	constructor(source: Uint8Array) {
		this.#source = source;
	}

	/** Adds the old text from `start` to `end`. */
	keep(start: number, end: number): void {
		if (start !== this.#end) {
			this.#closeRun();
			this.#start = start;
		}
		this.#end = end;
	}

	insert(part: Insertion): void {
		this.#closeRun();
		this.#start = this.#end;
		this.#parts.push(part);
	}

	get byteLength(): number {
		this.#closeRun();
		this.#start = this.#end;
		let length = 0;
		for (const part of this.#parts) length += lengthOf(part);
		return length;
	}

	bytes(): Uint8Array {
		const whole = Buffer.allocUnsafe(this.byteLength);
		this.#write(whole, 0);
		return whole;
	}

	/** Yields the bytes in order, in uncopied pieces of at most `maxBytes`: for texts too long to join. */
	*pieces(maxBytes: number): Generator<Uint8Array> {
		this.#closeRun();
		this.#start = this.#end;
		for (const part of this.#parts) {
			if (part instanceof Splice) yield* part.pieces(maxBytes);
			else yield* cut(bytesOf(part, this.#source), maxBytes);
		}
	}

	#closeRun(): void {
		if (this.#end > this.#start) this.#parts.push({ start: this.#start, end: this.#end });
	}

	#write(target: Buffer, from: number): number {
		let at = from;
		for (const part of this.#parts) {
			if (typeof part === "string") at += target.write(part, at);
			else if (part instanceof Splice) at = part.#write(target, at);
			else if (part instanceof Uint8Array) at += copy.call(part, target, at);
			else at += copy.call(this.#source, target, at, part.start, part.end);
		}
		return at;
	}
}

function lengthOf(part: ByteRange | Insertion): number {
	if (typeof part === "string") return Buffer.byteLength(part);
	return "byteLength" in part ? part.byteLength : part.end - part.start;
}

function bytesOf(part: ByteRange | string | Uint8Array, source: Uint8Array): Uint8Array {
	if (typeof part === "string") return Buffer.from(part);
	return part instanceof Uint8Array ? part : source.subarray(part.start, part.end);
}

function* cut(bytes: Uint8Array, maxBytes: number): Generator<Uint8Array> {
	for (let at = 0; at < bytes.length; at += maxBytes) yield bytes.subarray(at, at + maxBytes);
}
