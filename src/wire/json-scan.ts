import { ApiError } from "../errors/index.ts";
import { latin1Text, utf8Text } from "./byte-text.ts";
import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "./json-bytes.ts";

/** Maximum depth of JSON: no request of this API needs more, and later parsers may recurse. */
export const MAX_JSON_DEPTH = 512;

/** Strings are read byte by byte up to this length, then by native search: most strings are short. */
const NEAR = 64;

/** Matches an escape, or a byte of a longer character, in the Latin-1 text of a key. */
const NOT_PLAIN = /[\\\x80-\xff]/;

/** A member of a JSON object in bytes: [start, valueEnd) is key and value, [valueStart, valueEnd) the value. */
export interface JsonMember {
	/** Decoded: escapes are resolved. */
	readonly key: string;
	readonly start: number;
	readonly valueStart: number;
	readonly valueEnd: number;
}

/** A range of bytes, end exclusive. */
export interface ByteRange {
	readonly start: number;
	readonly end: number;
}

export function skipWhitespace(bytes: Uint8Array, from: number): number {
	let at = from;
	for (;;) {
		const byte = bytes[at];
		if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at;
		at++;
	}
}

/**
 * Returns the index after the closing quote of the string that opens at `open`, or -1 if it never closes. Long
 * strings are searched natively. Linear for any input: after an escaped quote it reads byte by byte again, since a
 * native call for each escape would be slow.
 */
export function endOfString(bytes: Uint8Array, open: number): number {
	const length = bytes.length;
	let at = open + 1;
	for (;;) {
		const near = Math.min(at + NEAR, length);
		while (at < near) {
			const byte = bytes[at];
			if (byte === QUOTE) return at + 1;
			at += byte === BACKSLASH ? 2 : 1;
		}
		if (at >= length) return -1;
		const quote = bytes.indexOf(QUOTE, at);
		if (quote < 0) return -1;
		let run = quote;
		while (run > at && bytes[run - 1] === BACKSLASH) run--;
		if ((quote - run) % 2 === 0) return quote + 1;
		at = quote + 1;
	}
}

/**
 * Returns the index after the value that starts at `start`, or -1 if there is none.
 * @throws ApiError INVALID_REQUEST past the depth limit
 */
export function endOfValue(bytes: Uint8Array, start: number): number {
	const first = bytes[start];
	if (first === QUOTE) return endOfString(bytes, start);
	if (first === OPEN_BRACE || first === OPEN_BRACKET) return endOfContainer(bytes, start);
	let at = start;
	while (at < bytes.length && !endsScalar(bytes[at])) at++;
	return at === start ? -1 : at;
}

/**
 * Returns the index after the value that starts at `start`; -1 if there is none, -2 if it is a list or an object
 * of more than `mostBytes`.
 * @throws ApiError INVALID_REQUEST past the depth limit
 */
export function endOfValueWithin(bytes: Uint8Array, start: number, mostBytes: number): number {
	const first = bytes[start];
	if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return endOfValue(bytes, start);
	return readContainer(bytes, start, Math.min(start + mostBytes, bytes.length), { depth: 0 });
}

function endsScalar(byte: number | undefined): boolean {
	return byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte === undefined || byte <= 0x20;
}

function endOfContainer(bytes: Uint8Array, start: number): number {
	const end = readContainer(bytes, start, bytes.length, { depth: 0 });
	return end === UNFINISHED ? -1 : end;
}

/** State of reading: the open containers, and the position to continue from. */
interface ContainerRead {
	depth: number;
	at?: number;
}

const UNFINISHED = -2;

/**
 * Reads a container from `from` on. Returns the index after its end, -1 if a string never closes, UNFINISHED if
 * `until` comes first; `read.at` is then the position to continue from.
 */
function readContainer(bytes: Uint8Array, from: number, until: number, read: ContainerRead): number {
	let { depth } = read;
	let at = from;
	while (at < until) {
		const byte = bytes[at];
		if (byte === QUOTE) {
			at = endOfString(bytes, at);
			if (at < 0) return -1;
			continue;
		}
		at++;
		if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
			if (++depth > MAX_JSON_DEPTH) throw tooDeep();
		} else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return at;
	}
	read.depth = depth;
	read.at = at;
	return UNFINISHED;
}

/**
 * Returns the members of the object that starts at `start` (its `{`), in order, duplicates included. The JSON should be
 * valid.
 * @throws ApiError INVALID_REQUEST if it is no object, is cut off or nests too deeply
 */
export function objectMembers(bytes: Uint8Array, start: number): JsonMember[] {
	if (bytes[start] !== OPEN_BRACE) throw notAnObject();
	const members: JsonMember[] = [];
	let at = skipWhitespace(bytes, start + 1);
	if (bytes[at] === CLOSE_BRACE) return members;
	for (;;) {
		if (bytes[at] !== QUOTE) throw notAnObject();
		const keyEnd = endOfString(bytes, at);
		if (keyEnd < 0) throw notAnObject();
		const colon = skipWhitespace(bytes, keyEnd);
		if (bytes[colon] !== COLON) throw notAnObject();
		const valueStart = skipWhitespace(bytes, colon + 1);
		const valueEnd = endOfValue(bytes, valueStart);
		if (valueEnd < 0) throw notAnObject();
		members.push({ key: decodeString(bytes, at, keyEnd), start: at, valueStart, valueEnd });
		const next = skipWhitespace(bytes, valueEnd);
		if (bytes[next] === CLOSE_BRACE) return members;
		if (bytes[next] !== COMMA) throw notAnObject();
		at = skipWhitespace(bytes, next + 1);
	}
}

/** Bytes read in one step. */
const STEP_BYTES = 2 * 1_048_576;

/** Returns the `objectMembers` of a possibly very large text. Runs in steps. */
export function* objectMembersInSteps(bytes: Uint8Array, start: number): Generator<undefined, JsonMember[]> {
	if (bytes[start] !== OPEN_BRACE) throw notAnObject();
	const members: JsonMember[] = [];
	let at = skipWhitespace(bytes, start + 1);
	let stepEnd = at + STEP_BYTES;
	while (bytes[at] === QUOTE) {
		const keyEnd = endOfString(bytes, at);
		const valueStart = skipWhitespace(bytes, skipWhitespace(bytes, keyEnd) + 1);
		const valueEnd = yield* endOfValueInSteps(bytes, valueStart);
		if (keyEnd < 0 || valueEnd < 0) throw notAnObject();
		members.push({ key: decodeString(bytes, at, keyEnd), start: at, valueStart, valueEnd });
		at = skipWhitespace(bytes, valueEnd);
		if (bytes[at] === COMMA) at = skipWhitespace(bytes, at + 1);
		if (at < stepEnd) continue;
		stepEnd = at + STEP_BYTES;
		yield;
	}
	if (bytes[at] !== CLOSE_BRACE) throw notAnObject();
	return members;
}

function* endOfValueInSteps(bytes: Uint8Array, start: number): Generator<undefined, number> {
	if (bytes[start] !== OPEN_BRACE && bytes[start] !== OPEN_BRACKET) return endOfValue(bytes, start);
	const read: ContainerRead = { depth: 0 };
	for (let at = start; at < bytes.length; at = read.at ?? bytes.length) {
		if (at > start) yield;
		const end = readContainer(bytes, at, Math.min(at + STEP_BYTES, bytes.length), read);
		if (end !== UNFINISHED) return end;
	}
	return -1;
}

/**
 * Returns the elements of the array that starts at `start` (its `[`), or its first ones. Throws as `objectMembers`
 * does.
 */
export function arrayElements(bytes: Uint8Array, start: number, most = Number.POSITIVE_INFINITY): ByteRange[] {
	if (bytes[start] !== OPEN_BRACKET) throw notAnObject();
	const elements: ByteRange[] = [];
	let at = skipWhitespace(bytes, start + 1);
	if (bytes[at] === CLOSE_BRACKET) return elements;
	for (;;) {
		const end = endOfValue(bytes, at);
		if (end < 0) throw notAnObject();
		elements.push({ start: at, end });
		if (elements.length >= most) return elements;
		const next = skipWhitespace(bytes, end);
		if (bytes[next] === CLOSE_BRACKET) return elements;
		if (bytes[next] !== COMMA) throw notAnObject();
		at = skipWhitespace(bytes, next + 1);
	}
}

/**
 * Returns the text of the string in [open, end), which includes its quotes; escapes are resolved.
 * @throws ApiError INVALID_REQUEST if it is no string
 */
export function decodeString(bytes: Uint8Array, open: number, end: number): string {
	const plain = latin1Text(bytes, open + 1, end - 1);
	if (!NOT_PLAIN.test(plain)) return plain;
	try {
		return JSON.parse(utf8Text(bytes, open, end)) as string;
	} catch (cause) {
		throw notAnObject(cause);
	}
}

function notAnObject(cause?: unknown): ApiError {
	return new ApiError("INVALID_REQUEST", { message: "The body must be one whole JSON object", cause });
}

/** Returns the refusal of JSON that is nested past the limit. */
export function tooDeep(): ApiError {
	return new ApiError("INVALID_REQUEST", { message: `JSON may be nested ${MAX_JSON_DEPTH} levels deep at most` });
}
