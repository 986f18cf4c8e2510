import { isUtf8 } from "node:buffer";

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const COLON = 0x3a;
const LINE_END = /\r\n|\r/g;

export const DEFAULT_MAX_EVENT_BYTES = 16 * 1024 * 1024;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Thrown where one event passes the bound: an upstream that never ends a line must not fill memory. */
export class SseEventTooLarge extends Error {
	override readonly name = "SseEventTooLarge";
}

/** Thrown at bytes that are no UTF-8. */
export class SseNotUtf8 extends Error {
	override readonly name = "SseNotUtf8";
}

/**
 * Server-sent events from byte chunks cut anywhere (WHATWG HTML, "Server-sent events": LF, CRLF or CR, one
 * leading byte order mark, comments, `data:` lines joined by LF; `event:`, `id:` and `retry:` say nothing
 * here). Whole lines are decoded together, once a chunk. The work is linear in the bytes, also where they come
 * one at a time.
 */
export class SseParser {
	readonly #maxEventBytes: number;
	/** The unfinished line, in a buffer that doubles. */
	#carry = new Uint8Array(0);
	#carryLength = 0;
	/** The `data:` lines so far of the event under way; null before the first. */
	#data: string | null = null;
	/** A CR ended the last line: an LF right after it belongs to the same line end. */
	#skipLf = false;
	#atStart = true;
	#done = false;

	constructor(maxEventBytes: number = DEFAULT_MAX_EVENT_BYTES) {
		this.#maxEventBytes = maxEventBytes;
	}

	/** `[DONE]` came: whatever follows is not read. */
	get done(): boolean {
		return this.#done;
	}

	/** There is the beginning of an event that has no end yet: at the end of a body it was cut. */
	get pending(): boolean {
		return this.#carryLength > 0 || this.#data !== null;
	}

	/**
	 * Adds the data of every event that this chunk completes to `events`, in order. Throws SseEventTooLarge and
	 * SseNotUtf8; what stood before the fault is in `events` then.
	 */
	feed(chunk: Uint8Array, events: string[]): void {
		const linesEnd = endOfLastLine(chunk);
		if (linesEnd > 0 && !this.#done) {
			const lines = linesEnd === chunk.length ? chunk : chunk.subarray(0, linesEnd);
			this.#decode(this.#carryLength === 0 ? lines : this.#carryWith(lines), events);
		}
		if (linesEnd === chunk.length || this.#done) return;
		this.#checkSize(this.#carryLength + chunk.length - linesEnd);
		this.#keep(linesEnd === 0 ? chunk : chunk.subarray(linesEnd));
	}

	/** The unfinished line and what ends it. Read before the next is kept: it is the buffer itself. */
	#carryWith(lines: Uint8Array): Uint8Array {
		this.#keep(lines);
		const whole = this.#carry.subarray(0, this.#carryLength);
		this.#carryLength = 0;
		return whole;
	}

	#keep(bytes: Uint8Array): void {
		const needed = this.#carryLength + bytes.length;
		if (needed > this.#carry.length) {
			const grown = new Uint8Array(Math.max(needed, this.#carry.length * 2, 256));
			grown.set(this.#carry.subarray(0, this.#carryLength));
			this.#carry = grown;
		}
		this.#carry.set(bytes, this.#carryLength);
		this.#carryLength = needed;
	}

	#decode(lines: Uint8Array, events: string[]): void {
		let text: string;
		try {
			text = decoder.decode(lines);
		} catch {
			this.#lines(decoder.decode(lines.subarray(0, validLines(lines))), events);
			if (this.#done) return;
			throw new SseNotUtf8("the stream is no UTF-8");
		}
		this.#lines(text, events);
	}

	/** Whole lines, the last line end included. */
	#lines(decoded: string, events: string[]): void {
		let text = decoded;
		let at = 0;
		if (this.#atStart && text !== "") {
			this.#atStart = false;
			if (text.charCodeAt(0) === 0xfeff) at = 1;
		}
		if (this.#skipLf && text.charCodeAt(at) === LF) at++;
		this.#skipLf = text.charCodeAt(text.length - 1) === CR;
		if (text.includes("\r")) text = text.replace(LINE_END, "\n");
		while (at < text.length && !this.#done) {
			const end = text.indexOf("\n", at);
			if (end === at) this.#dispatch(events);
			else this.#line(text, at, end);
			at = end + 1;
		}
	}

	#line(text: string, start: number, end: number): void {
		if (!text.startsWith("data", start)) return;
		let value = start + 4;
		if (value < end) {
			if (text.charCodeAt(value) !== COLON) return;
			value++;
			if (value < end && text.charCodeAt(value) === SPACE) value++;
		}
		const line = text.slice(value, end);
		this.#data = this.#data === null ? line : `${this.#data}\n${line}`;
		this.#checkSize(0);
	}

	#dispatch(events: string[]): void {
		const data = this.#data;
		if (data === null) return;
		this.#data = null;
		if (data === "") return;
		if (isDone(data)) this.#done = true;
		else events.push(data);
	}

	/** `carried`: bytes of the unfinished line. */
	#checkSize(carried: number): void {
		if (carried + (this.#data?.length ?? 0) <= this.#maxEventBytes) return;
		throw new SseEventTooLarge(`an event of the stream is over ${this.#maxEventBytes} bytes`);
	}
}

/** The index after the last line end; 0 where there is none. */
function endOfLastLine(chunk: Uint8Array): number {
	if (chunk[chunk.length - 1] === LF) return chunk.length;
	const lf = chunk.lastIndexOf(LF);
	return Math.max(lf, chunk.lastIndexOf(CR)) + 1;
}

/** The length of the whole lines before the first that is no UTF-8. */
function validLines(bytes: Uint8Array): number {
	let valid = 0;
	for (let at = 0; at < bytes.length; at++) {
		if (bytes[at] !== LF && bytes[at] !== CR) continue;
		if (!isUtf8(bytes.subarray(valid, at))) break;
		valid = at + 1;
	}
	return valid;
}

/** `[DONE]`, with white space around it where a server pads it. */
function isDone(data: string): boolean {
	return data.length >= 6 && data.length <= 16 && data.charCodeAt(0) !== 0x7b && data.trim() === "[DONE]";
}
