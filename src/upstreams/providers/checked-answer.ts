import { atOnce, CUT_NOTHING, cutJson, inTurns, type JsonBounds, nextTurn } from "../../wire/index.ts";
import { readWhole } from "../chat/whole-answer.ts";
import { type BodyReader, cancelBody, isGood } from "../connect.ts";
import { brokenAnswer } from "../failures.ts";
import type { Fetch } from "../fetch.ts";

const KIB = 1024;
const MAX_ERROR_BYTES = 64 * KIB;
/** Smaller JSON cannot block the event loop, whatever it contains. */
const SMALL_BYTES = 32 * KIB;
/** Bytes that a package reads in one turn of the event loop. */
const ONE_TURN_BYTES = 16 * KIB;
/** Maximum number of lines of an event; normal ones have one line of data and few others. */
const MAX_LINES = 256;
const EVENT_STREAM_FRAMES = "application/vnd.amazon.eventstream";
const LF = 0x0a;
const CR = 0x0d;

/**
 * Returns a fetch that limits answers in size and in number of values. Packages validate every value against a schema
 * at once, which takes far longer than parsing.
 */
export function checkedAnswers(send: Fetch, bounds: JsonBounds): Fetch {
	return async (url, init) => {
		const response = await send(url, init);
		if (response.body === null) return response;
		if (!isGood(response)) return rebuilt(response, await readWhole(response, MAX_ERROR_BYTES));
		const type = response.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
		if (type === "text/event-stream") return rebuilt(response, checkedEvents(response.body.getReader(), new EventEnds(), bounds));
		if (type === EVENT_STREAM_FRAMES)
			return rebuilt(response, checkedEvents(response.body.getReader(), new FrameEnds(bounds.bytes), bounds));
		const bytes = await readWhole(response, bounds.bytes);
		if (bytes.length > SMALL_BYTES) await orBroken(() => inTurns(cutJson(bytes, bounds, CUT_NOTHING)));
		return rebuilt(response, bytes);
	};
}

const HEADERS_OF_THE_BODY = ["content-length", "content-encoding", "transfer-encoding"];

function rebuilt({ status, headers }: Response, body: Uint8Array | ReadableStream<Uint8Array>): Response {
	const otherHeaders = new Headers(headers);
	for (const name of HEADERS_OF_THE_BODY) otherHeaders.delete(name);
	return new Response(body as Uint8Array<ArrayBuffer>, { status, headers: otherHeaders });
}

async function orBroken(check: () => unknown): Promise<void> {
	try {
		await check();
	} catch {
		throw brokenAnswer("an answer that is made of more than an answer is");
	}
}

/** Finds the ends of events in bytes that arrive in pieces. */
interface Ends {
	/** Returns the index after the last event that ends in this piece; 0 if none does. */
	lastIn(piece: Uint8Array): number;
	/** Returns the JSON of these whole events. */
	jsonOf(events: Uint8Array): Uint8Array;
}

/** Returns a stream event by event. A large event is checked before the package gets it. */
function checkedEvents(reader: BodyReader, ends: Ends, bounds: JsonBounds): ReadableStream<Uint8Array> {
	const pending: Uint8Array[] = [];
	let pendingBytes = 0;
	let unread: Uint8Array = new Uint8Array(0);
	const next = async (): Promise<Uint8Array | null> => {
		if (unread.length === 0) {
			const { value, done } = await reader.read();
			if (done || value === undefined) return null;
			unread = value;
		} else await nextTurn();
		const piece = unread.subarray(0, ONE_TURN_BYTES);
		unread = unread.subarray(piece.length);
		return piece;
	};
	const whole = (piece: Uint8Array): Uint8Array => {
		const events = pending.length === 0 ? piece : Buffer.concat([...pending, piece]);
		pending.length = 0;
		pendingBytes = 0;
		return events;
	};
	return new ReadableStream<Uint8Array>(
		{
			async pull(controller) {
				for (;;) {
					const piece = await next();
					if (piece === null) {
						if (pendingBytes > 0) controller.enqueue(whole(new Uint8Array(0)));
						controller.close();
						return;
					}
					const end = ends.lastIn(piece);
					const events = end === 0 ? null : whole(piece.subarray(0, end));
					if (end < piece.length) pending.push(piece.subarray(end));
					pendingBytes += piece.length - end;
					if (pendingBytes > bounds.bytes) throw brokenAnswer("an event without an end");
					if (events === null) continue;
					if (events.length > SMALL_BYTES) await orBroken(() => atOnce(cutJson(ends.jsonOf(events), bounds, CUT_NOTHING)));
					controller.enqueue(events);
					return;
				}
			},
			cancel: () => cancelBody(reader),
		},
		{ highWaterMark: 0 },
	);
}

/** Server-sent events end with an empty line (WHATWG HTML, "Server-sent events"). */
class EventEnds implements Ends {
	#lineBytes = 0;
	#lines = 0;
	#wasCr = false;

	lastIn(piece: Uint8Array): number {
		let end = 0;
		for (let at = 0; at < piece.length; at++) {
			const byte = piece[at];
			const isPair = byte === LF && this.#wasCr;
			this.#wasCr = byte === CR;
			if (byte !== LF && byte !== CR) this.#lineBytes++;
			else if (isPair) {
				if (this.#lines === 0) end = at + 1;
			} else if (this.#lineBytes === 0) {
				this.#lines = 0;
				end = at + 1;
			} else {
				this.#lineBytes = 0;
				if (++this.#lines > MAX_LINES) throw brokenAnswer("an event of too many lines");
			}
		}
		return end;
	}

	/** Returns all bytes. Those around the JSON, such as field names, are counted too: they contain no quotes. */
	jsonOf(events: Uint8Array): Uint8Array {
		return events;
	}
}

/** Amazon's binary events (event stream encoding): total length, header length, header, body, checksum. */
class FrameEnds implements Ends {
	readonly #maxBytes: number;
	/** The first bytes of a frame whose length is not known yet. */
	#prelude: number[] = [];
	/** Bytes missing of the current frame. */
	#left = 0;

	constructor(maxBytes: number) {
		this.#maxBytes = maxBytes;
	}

	lastIn(piece: Uint8Array): number {
		let end = 0;
		for (let at = 0; at < piece.length; ) {
			if (this.#left === 0) {
				this.#prelude.push(piece[at++] as number);
				if (this.#prelude.length < 4) continue;
				const length = Buffer.from(this.#prelude).readUInt32BE();
				if (length < LEAST_FRAME || length > this.#maxBytes) throw brokenAnswer("an event of no length");
				this.#prelude = [];
				this.#left = length - 4;
			}
			const skipped = Math.min(this.#left, piece.length - at);
			this.#left -= skipped;
			at += skipped;
			if (this.#left === 0) end = at;
		}
		return end;
	}

	jsonOf(events: Uint8Array): Uint8Array {
		const view = new DataView(events.buffer, events.byteOffset, events.byteLength);
		const bodies: Uint8Array[] = [];
		for (let at = 0; at < events.length; at += view.getUint32(at)) {
			const start = at + HEAD_BYTES + view.getUint32(at + 4);
			bodies.push(events.subarray(start, Math.max(start, at + view.getUint32(at) - CHECKSUM_BYTES)));
		}
		return Buffer.concat(bodies);
	}
}

const HEAD_BYTES = 12;
const CHECKSUM_BYTES = 4;
const LEAST_FRAME = HEAD_BYTES + CHECKSUM_BYTES;
