import { isUtf8 } from "node:buffer";
import { BACKSLASH, CLOSE_BRACE, COLON, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "./json-bytes.ts";

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
/** A field of its own for errors, which llama.cpp's older versions write. */
const ERROR_FIELD = "error:";
const LINE_END = /\r\n|\r/g;

const DEFAULT_MAX_EVENT_BYTES = 16 * 1024 * 1024;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Thrown if one event exceeds the limit: an upstream that never ends a line must not fill memory. */
export class SseEventTooLarge extends Error {
	override readonly name = "SseEventTooLarge";
}

/** Thrown at invalid UTF-8. */
export class SseNotUtf8 extends Error {
	override readonly name = "SseNotUtf8";
}

/**
 * Parses server-sent events from byte chunks cut anywhere (WHATWG HTML, "Server-sent events": LF, CRLF or CR, one
 * leading byte order mark, comments, `data:` lines joined by LF; `event:`, `id:` and `retry:` are ignored). Whole lines
 * are decoded together, once a chunk. The work is linear in the bytes, even if they arrive one at a time. JSON events
 * are also accepted without parts of the framing: one object a line without `data:`, with it twice, or without the
 * blank line between two. No JSON has an object right after another.
 */
export class SseParser {
	readonly #maxEventBytes: number;
	/** The unfinished line, in a buffer that doubles. */
	#carry = new Uint8Array(0);
	#carryLength = 0;
	/** Whole lines, and the position up to which they are read. */
	#text = "";
	#at = 0;
	/** The `data:` lines so far of the current event; null before the first. */
	#data: string | null = null;
	/** The last of them. */
	#lastLine = "";
	/** True if a CR ended the last line: an LF right after it belongs to the same line end. */
	#skipLf = false;
	#atStart = true;
	#done = false;
	/** The fault after the lines that can still be read. */
	#fault: Error | null = null;

	constructor(maxEventBytes: number = DEFAULT_MAX_EVENT_BYTES) {
		this.#maxEventBytes = maxEventBytes;
	}

	/** True once `[DONE]` was read: later bytes are ignored. */
	get done(): boolean {
		return this.#done;
	}

	/** Adds a chunk; `next` then returns the events that it completes. */
	push(chunk: Uint8Array): void {
		if (this.#done) return;
		const linesEnd = endOfLastLine(chunk);
		if (linesEnd > 0) {
			const lines = linesEnd === chunk.length ? chunk : chunk.subarray(0, linesEnd);
			const text = this.#decode(this.#carryLength === 0 ? lines : this.#carryWith(lines));
			this.#text = this.#at === this.#text.length ? text : this.#text.slice(this.#at) + text;
			this.#at = 0;
		}
		if (linesEnd === chunk.length) return;
		if (this.#carryLength + chunk.length - linesEnd > this.#maxEventBytes) this.#fault ??= this.#tooLarge();
		else this.#keep(linesEnd === 0 ? chunk : chunk.subarray(linesEnd));
	}

	/** Returns the data of the next event; null if there is none yet. Throws SseEventTooLarge and SseNotUtf8. */
	next(): string | null {
		while (this.#at < this.#text.length && !this.#done) {
			const start = this.#at;
			const end = this.#text.indexOf("\n", start);
			this.#at = end + 1;
			const ended = end > start ? this.#line(start, end) : this.#endEvent();
			if (ended !== null && ended !== "") return ended;
		}
		if (this.#fault !== null && !this.#done) throw this.#fault;
		return null;
	}

	/**
	 * Returns the text between `head` and `tail` if the next event, with its blank line, consists of exactly these, and
	 * the text has no quote, backslash or control character. `tail` begins with a quote. The event then counts as read.
	 * Otherwise returns null.
	 */
	nextBetween(head: string, tail: string): string | null {
		const text = this.#text;
		const start = this.#at;
		if (this.#data !== null || this.#done || !text.startsWith(head, start)) return null;
		let end = start + head.length;
		while (isPlain(text.charCodeAt(end))) end++;
		if (!text.startsWith(tail, end) || end - start > this.#maxEventBytes) return null;
		this.#at = end + tail.length;
		return text.slice(start + head.length, end);
	}

	#decode(lines: Uint8Array): string {
		let text: string;
		try {
			text = decoder.decode(lines);
		} catch {
			text = decoder.decode(lines.subarray(0, validLines(lines)));
			this.#fault ??= new SseNotUtf8("the stream is not UTF-8");
		}
		let from = 0;
		if (this.#atStart && text !== "") {
			this.#atStart = false;
			if (text.charCodeAt(0) === 0xfeff) from = 1;
		}
		if (this.#skipLf && text.charCodeAt(from) === LF) from++;
		this.#skipLf = text.charCodeAt(text.length - 1) === CR;
		if (from > 0) text = text.slice(from);
		return text.includes("\r") ? text.replace(LINE_END, "\n") : text;
	}

	/**
	 * Returns the unfinished line with the bytes that end it. It is the buffer itself, so it must be read before the next
	 * line is stored.
	 */
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

	/** Returns the event that a line completes, where its blank line is missing; null: none. */
	#line(start: number, end: number): string | null {
		const text = this.#text;
		if (!text.startsWith("data", start)) return this.#bareLine(start, end);
		let value = start + 4;
		if (value < end) {
			if (text.charCodeAt(value) !== COLON) return null;
			value = afterColon(text, value + 1);
			while (text.startsWith("data:", value)) value = afterColon(text, value + 5);
		}
		const line = text.slice(value, end);
		if (this.#data === null) {
			// It ends the stream itself: some servers omit the blank line after it.
			if (isDone(line)) this.#done = true;
			return this.#begin(line);
		}
		const isOther = line.charCodeAt(0) === OPEN_BRACE || isDone(line);
		if (isOther && endsObject(this.#lastLine)) {
			this.#done = isDone(line);
			const ended = this.#data;
			this.#begin(line);
			return ended;
		}
		this.#data = `${this.#data}\n${line}`;
		this.#lastLine = line;
		if (this.#data.length > this.#maxEventBytes) throw this.#tooLarge();
		return null;
	}

	#begin(line: string): null {
		if (line.length > this.#maxEventBytes) throw this.#tooLarge();
		this.#data = line;
		this.#lastLine = line;
		return null;
	}

	/** Reads a line without `data`: an object is an event by itself, anything else is ignored. */
	#bareLine(start: number, end: number): string | null {
		const first = this.#text.charCodeAt(start);
		if (first === OPEN_BRACKET) {
			if (!isDone(this.#text.slice(start, end))) return null;
			this.#done = true;
			return this.#endEvent();
		}
		const isError = this.#text.startsWith(ERROR_FIELD, start);
		if (first !== OPEN_BRACE && !isError) return null;
		const line = isError ? this.#text.slice(start + ERROR_FIELD.length, end).trim() : this.#text.slice(start, end);
		if (line.charCodeAt(0) !== OPEN_BRACE || !endsObject(line)) return null;
		if (line.length > this.#maxEventBytes) throw this.#tooLarge();
		const before = this.#endEvent();
		if (before === null) return line;
		this.#begin(line);
		return before;
	}

	/** Returns the data of the current event and ends it. */
	#endEvent(): string | null {
		const data = this.#data;
		this.#data = null;
		return data;
	}

	#tooLarge(): SseEventTooLarge {
		return new SseEventTooLarge(`an event of the stream is over ${this.#maxEventBytes} bytes`);
	}
}

/** Returns true for a plain character; NaN is the end of the text. */
function isPlain(code: number): boolean {
	return code >= SPACE && code !== QUOTE && code !== BACKSLASH;
}

/** Returns the index after the last line end; 0 if there is none. */
function endOfLastLine(chunk: Uint8Array): number {
	if (chunk[chunk.length - 1] === LF) return chunk.length;
	const lf = chunk.lastIndexOf(LF);
	return Math.max(lf, chunk.lastIndexOf(CR)) + 1;
}

/** Returns the length of the whole lines before the first with invalid UTF-8. */
function validLines(bytes: Uint8Array): number {
	let valid = 0;
	for (let at = 0; at < bytes.length; at++) {
		if (bytes[at] !== LF && bytes[at] !== CR) continue;
		if (!isUtf8(bytes.subarray(valid, at))) break;
		valid = at + 1;
	}
	return valid;
}

/** Returns where the value begins: one blank after the colon is not part of it. */
function afterColon(text: string, at: number): number {
	return text.charCodeAt(at) === SPACE ? at + 1 : at;
}

/** Returns true if the text ends an object, white space aside. */
function endsObject(data: string): boolean {
	let end = data.length - 1;
	while (end >= 0 && data.charCodeAt(end) <= SPACE) end--;
	return data.charCodeAt(end) === CLOSE_BRACE;
}

const DONE = /^\s*"?\[done\]"?\s*$/i;

/** Returns true for `[DONE]`, also in white space, quotes or lower case, as some servers write it. */
function isDone(data: string): boolean {
	return data.length >= 6 && data.length <= 16 && data.charCodeAt(0) !== 0x7b && DONE.test(data);
}
