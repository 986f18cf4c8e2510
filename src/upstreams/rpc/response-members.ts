import {
	type ByteRange,
	bytesAre,
	CLOSE_BRACE,
	COLON,
	COMMA,
	endOfString,
	JsonValueEnd,
	latin1Text,
	NotJson,
	OPEN_BRACE,
	QUOTE,
	skipWhitespace,
	utf8Text,
} from "../../wire/index.ts";
import { brokenAnswer, type RpcFault } from "./faults.ts";
import type { RpcOutcome } from "./port.ts";

/** Maximum number of members. A response has three or four, and no server adds this many. */
const MAX_MEMBERS = 1_000;

/** The members that we read. */
const MEMBERS = ["result", "id", "error"] as const;
type Member = (typeof MEMBERS)[number];

/** Errors whose id a server may not know, because it could not read the request. */
const UNREAD_CODES: ReadonlySet<number> = new Set([-32700, -32600, -32602]);

/** The members of a JSON-RPC response that have arrived so far. */
export interface ResponseMembers {
	/** JSON text of the id; null if there is none. */
	id: string | null;
	result: ByteRange | null;
	error: ByteRange | null;
}

/** A member whose value continues past the bytes. `end` has read all of them. */
export interface OpenMember {
	readonly member: "result" | "error";
	readonly valueStart: number;
	readonly end: JsonValueEnd;
}

/** How far an object was read: to the index after it, or to a value that continues. null if the bytes end elsewhere. */
export type ResponseEnd = { readonly at: number } | { readonly open: OpenMember } | null;

/**
 * Reads the members of a response object into `envelope`. `from` is the index of its brace or, if `inside`, the index
 * after a value.
 * @throws RpcFault for invalid JSON, and for a repeated `result` or `error`
 */
export function readResponseMembers(bytes: Uint8Array, from: number, envelope: ResponseMembers, inside = false): ResponseEnd {
	try {
		return readMembers(bytes, from, envelope, inside);
	} catch (error) {
		if (error instanceof NotJson) throw brokenAnswer("an answer that is not JSON");
		throw error;
	}
}

function readMembers(bytes: Uint8Array, from: number, envelope: ResponseMembers, inside: boolean): ResponseEnd {
	let at = from;
	let between = inside;
	if (!inside) {
		if (bytes[at] !== OPEN_BRACE) throw brokenAnswer("an answer that is not a JSON object");
		at = skipWhitespace(bytes, at + 1);
		if (bytes[at] === CLOSE_BRACE) return { at: at + 1 };
	}
	for (let count = 0; ; count++) {
		if (count > MAX_MEMBERS) throw brokenAnswer("an answer of too many members");
		if (between) {
			at = skipWhitespace(bytes, at);
			if (bytes[at] === CLOSE_BRACE) return { at: at + 1 };
			if (at >= bytes.length) return null;
			if (bytes[at] !== COMMA) throw new NotJson("no comma");
			at = skipWhitespace(bytes, at + 1);
		}
		between = true;
		if (at >= bytes.length) return null;
		if (bytes[at] !== QUOTE) throw new NotJson("no key");
		const keyEnd = endOfString(bytes, at);
		if (keyEnd < 0) return null;
		const colon = skipWhitespace(bytes, keyEnd);
		if (colon >= bytes.length) return null;
		if (bytes[colon] !== COLON) throw new NotJson("no colon");
		const valueStart = skipWhitespace(bytes, colon + 1);
		if (valueStart >= bytes.length) return null;
		const key = MEMBERS.find((member) => bytesAre(bytes, at + 1, keyEnd - 1, member)) ?? null;
		const end = new JsonValueEnd();
		const valueEnd = end.feed(bytes, valueStart);
		if (valueEnd < 0) return key === "result" || key === "error" ? { open: { member: key, valueStart, end } } : null;
		take(envelope, key, bytes, valueStart, valueEnd);
		at = valueEnd;
	}
}

function take(envelope: ResponseMembers, key: Member | null, bytes: Uint8Array, start: number, end: number): void {
	if (key === "id") {
		envelope.id = latin1Text(bytes, start, Math.min(end, start + 64));
	} else if (key === "result" || key === "error") {
		if (envelope[key] !== null) throw brokenAnswer(`an answer with two members ${key}`);
		envelope[key] = { start, end };
	}
}

/** Returns true if the id is that of the request: the number that we sent, or its digits as text. */
export function isOurId(id: string | null, ours: number): boolean {
	return id !== null && numberOfId(id) === ours;
}

/** Returns the number of an id; NaN if it is not one of ours. */
export function numberOfId(id: string): number {
	const text = id.charCodeAt(0) === QUOTE ? id.slice(1, -1) : id;
	return /^\d/.test(text) ? Number(text) : Number.NaN;
}

/**
 * Returns the outcome of a whole response. A null `result` or `error` is ignored beside the other member, because
 * older servers write both.
 * @throws RpcFault for both members or neither, for an error that is not an object, and for a value that is no JSON
 */
export function outcomeOf(bytes: Uint8Array, envelope: ResponseMembers): Exclude<RpcOutcome, { kind: "missing" }> {
	const { result, error } = envelope;
	const hasError = error !== null && !isNull(bytes, error);
	if (!hasError) {
		if (result === null) throw brokenAnswer("an answer with neither result nor error");
		return { kind: "result", value: requireJson(bytes, result) };
	}
	if (result !== null && !isNull(bytes, result)) throw brokenAnswer("an answer with both result and error");
	if (bytes[error.start] !== OPEN_BRACE) throw brokenAnswer("an error that is not an object");
	return { kind: "error", value: requireJson(bytes, error), code: errorOf(bytes, error).code };
}

/** Longer values are only read to their end, as streamed values are. */
const MAX_CHECKED = 256 * 1024;

/**
 * Returns the bytes of a value whose content is valid JSON too. In an answer to a batch, or under a cache key, an
 * invalid value would spoil more than itself. Bytes that are not UTF-8 pass: readers replace them, and some nodes quote
 * bytes of contracts.
 */
function requireJson(bytes: Uint8Array, { start, end }: ByteRange): Uint8Array {
	if (end - start <= MAX_CHECKED) {
		try {
			JSON.parse(latin1Text(bytes, start, end));
		} catch (error) {
			// Deep nesting may exceed the parser's stack. Brackets were counted before.
			if (error instanceof SyntaxError) throw brokenAnswer("an answer that is not JSON");
		}
	}
	return bytes.subarray(start, end);
}

/** Returns true for an error with the id null which says that the request could not be read. */
export function isUnreadRequest(envelope: ResponseMembers, outcome: RpcOutcome): boolean {
	const noId = envelope.id === null || envelope.id === "null";
	return noId && outcome.kind === "error" && outcome.code !== null && UNREAD_CODES.has(outcome.code);
}

export function isNull(bytes: Uint8Array, { start, end }: ByteRange): boolean {
	return end - start === 4 && bytes[start] === 0x6e;
}

/** Longer errors are not searched for their code. No server writes it so late. */
const MAX_ERROR_TEXT = 64 * 1024;

/** Returns the code and the message of an error object, if it has them. Never throws. */
export function errorOf(bytes: Uint8Array, range: ByteRange): { readonly code: number | null; readonly message: string } {
	try {
		if (range.end - range.start > MAX_ERROR_TEXT) return { code: null, message: "" };
		const { code, message } = JSON.parse(utf8Text(bytes, range.start, range.end)) as { code?: unknown; message?: unknown };
		return { code: Number.isSafeInteger(code) ? Number(code) : null, message: typeof message === "string" ? message : "" };
	} catch {
		return { code: null, message: "" };
	}
}

/** Returns the fault of bytes other than white space after `at`; null if there are none. */
export function nothingAfter(bytes: Uint8Array, at: number): RpcFault | null {
	return skipWhitespace(bytes, at) < bytes.length ? brokenAnswer("bytes after an answer") : null;
}
