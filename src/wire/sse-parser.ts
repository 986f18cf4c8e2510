import { concatBytes } from "./json-members.ts";

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const COLON = 0x3a;
const NEWLINE = new Uint8Array([LF]);

export const DEFAULT_MAX_EVENT_BYTES = 16 * 1024 * 1024;

/** Thrown where one event passes the bound: an upstream that never ends a line must not fill memory. */
export class SseEventTooLarge extends Error {
	override readonly name = "SseEventTooLarge";
}

/**
 * Server-sent events from byte chunks cut anywhere (WHATWG HTML, "Server-sent events": LF, CRLF or CR, one
 * leading byte order mark, comments, `data:` lines joined by LF; `event:`, `id:` and `retry:` say nothing
 * here). An event that lies whole inside a chunk is handed out as a view of it, without a copy. The work is
 * linear in the bytes, also where they come one at a time.
 */
export class SseParser {
	readonly #maxEventBytes: number;
	/** The unfinished line, in a buffer that doubles. */
	#carry = new Uint8Array(0);
	#carryLength = 0;
	/** `data:` lines of the event under way. */
	#data: Uint8Array[] = [];
	#dataBytes = 0;
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

	/** Bytes of an event that has no end yet: at the end of a body it was cut. */
	get pending(): boolean {
		return this.#carryLength > 0 || this.#data.length > 0;
	}

	/** The data of every event that this chunk completes, in order. Throws SseEventTooLarge. */
	feed(chunk: Uint8Array): Uint8Array[] {
		const events: Uint8Array[] = [];
		const length = chunk.length;
		let at = 0;
		// The next CR is looked up once, not once a line: most streams have none.
		let cr = chunk.indexOf(CR);
		while (at < length && !this.#done) {
			if (this.#skipLf) {
				this.#skipLf = false;
				if (chunk[at] === LF) {
					at++;
					continue;
				}
			}
			if (cr >= 0 && cr < at) cr = chunk.indexOf(CR, at);
			const lf = chunk.indexOf(LF, at);
			const end = cr >= 0 && (lf < 0 || cr < lf) ? cr : lf;
			if (end < 0) {
				this.#keep(chunk.subarray(at));
				break;
			}
			this.#skipLf = end === cr;
			if (this.#carryLength === 0) this.#line(chunk, at, end, events);
			else {
				this.#keep(chunk.subarray(at, end));
				const line = this.#carry;
				const lineLength = this.#carryLength;
				// Events may be views of the buffer: it is handed over, not used again.
				this.#carry = new Uint8Array(0);
				this.#carryLength = 0;
				this.#line(line, 0, lineLength, events);
			}
			at = end + 1;
		}
		return events;
	}

	#keep(bytes: Uint8Array): void {
		const needed = this.#carryLength + bytes.length;
		if (needed + this.#dataBytes > this.#maxEventBytes) throw this.#tooLarge();
		if (needed > this.#carry.length) {
			const grown = new Uint8Array(Math.max(needed, this.#carry.length * 2, 256));
			grown.set(this.#carry.subarray(0, this.#carryLength));
			this.#carry = grown;
		}
		this.#carry.set(bytes, this.#carryLength);
		this.#carryLength = needed;
	}

	#line(bytes: Uint8Array, from: number, end: number, events: Uint8Array[]): void {
		let start = from;
		if (this.#atStart) {
			this.#atStart = false;
			if (bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf) start += 3;
		}
		if (start >= end) {
			this.#dispatch(events);
			return;
		}
		if (bytes[start] !== 0x64 || bytes[start + 1] !== 0x61 || bytes[start + 2] !== 0x74 || bytes[start + 3] !== 0x61) return;
		let value = start + 4;
		if (value < end) {
			if (bytes[value] !== COLON) return;
			value++;
			if (value < end && bytes[value] === SPACE) value++;
		} else if (value > end) return;
		this.#dataBytes += end - value + 1;
		if (this.#dataBytes > this.#maxEventBytes) throw this.#tooLarge();
		this.#data.push(bytes.subarray(value, end));
	}

	#dispatch(events: Uint8Array[]): void {
		if (this.#data.length === 0) return;
		const data = this.#data.length === 1 ? (this.#data[0] ?? NEWLINE) : concatBytes(this.#data.flatMap(withNewline));
		this.#data = [];
		this.#dataBytes = 0;
		if (data.length === 0) return;
		if (isDone(data)) this.#done = true;
		else events.push(data);
	}

	#tooLarge(): SseEventTooLarge {
		return new SseEventTooLarge(`an event of the stream is over ${this.#maxEventBytes} bytes`);
	}
}

function withNewline(line: Uint8Array, index: number): Uint8Array[] {
	return index === 0 ? [line] : [NEWLINE, line];
}

/** `[DONE]`, with white space around it where a server pads it. */
function isDone(data: Uint8Array): boolean {
	if (data.length < 6 || data.length > 16 || data[0] === 0x7b) return false;
	return new TextDecoder().decode(data).trim() === "[DONE]";
}
