/** Tells by its beginning in which form a body is: servers send the other form, and label it wrongly. */
import { isRecord } from "../../schema/is-record.ts";
import { OPEN_BRACE, OPEN_BRACKET } from "../../wire/index.ts";
import { isFinishReason } from "../finish-reason.ts";
import { nativeFormOf } from "./native-answers.ts";

const OPENING_ANGLE = 0x3c;

const BEGINNINGS = ["data:", "event:", "id:", "retry:", ":"].map((text) => Buffer.from(text));

/** Returns true if the first byte that is not blank begins a JSON object; null if all are blank. */
export function beginsAsObject(bytes: Uint8Array): boolean | null {
	const at = beginningOf(bytes);
	return at === bytes.length ? null : bytes[at] === OPEN_BRACE;
}

/** Returns true if the first byte that is not blank begins a JSON array; null if all are blank. */
export function beginsAsArray(bytes: Uint8Array): boolean | null {
	const at = beginningOf(bytes);
	return at === bytes.length ? null : bytes[at] === OPEN_BRACKET;
}

/** Chunks are small, so a longer first line is not parsed. */
const MAX_CHUNK_LINE_BYTES = 32 * 1024;
const LF = 0x0a;

/**
 * Returns true if the first line of a body is a chunk of a stream: some servers send one object a line, without
 * `data:`.
 */
export function beginsAsChunkLine(bytes: Uint8Array): boolean {
	const at = beginningOf(bytes);
	const lineEnd = bytes.indexOf(LF, at);
	const end = lineEnd < 0 ? bytes.length : lineEnd;
	if (bytes[at] !== OPEN_BRACE || end - at > MAX_CHUNK_LINE_BYTES) return false;
	try {
		return isChunk(JSON.parse(Buffer.from(bytes.subarray(at, end)).toString("utf8")));
	} catch {
		return false;
	}
}

/**
 * Returns true if a whole body consists of chunks, one a line. A single line is a whole answer, and so is indented
 * JSON.
 */
export function isChunkLines(bytes: Uint8Array): boolean {
	const lineEnd = bytes.indexOf(LF, beginningOf(bytes));
	if (lineEnd < 0) return false;
	const next = bytes[lineEnd + 1 + beginningOf(bytes.subarray(lineEnd + 1))];
	return (next === OPEN_BRACE || next === OPEN_BRACKET) && beginsAsChunkLine(bytes);
}

function isChunk(value: unknown): boolean {
	if (!isRecord(value)) return false;
	if (value.object === "chat.completion.chunk" || nativeFormOf(value) !== undefined) return true;
	const { choices } = value;
	if (!Array.isArray(choices)) return false;
	const first: unknown = choices[0];
	if (!isRecord(first)) return choices.length === 0;
	return isRecord(first.delta) || (typeof first.text === "string" && !isFinishReason(first.finish_reason));
}

/** Returns true if a body begins as HTML: a page comes from no model server, whatever its content type. */
export function beginsAsPage(bytes: Uint8Array): boolean {
	return bytes[beginningOf(bytes)] === OPENING_ANGLE;
}

/** Returns true if a body begins as an event stream (WHATWG HTML, "Server-sent events"). */
export function beginsAsEvents(bytes: Uint8Array): boolean {
	const at = beginningOf(bytes);
	if (bytes[at] === OPEN_BRACE) return false;
	return BEGINNINGS.some((text) => text.equals(bytes.subarray(at, at + text.length)));
}

/** Returns the body from its first byte that is not blank. */
export function withoutBlank(bytes: Uint8Array): Uint8Array {
	return bytes.subarray(beginningOf(bytes));
}

/** Returns the index of the first byte that is no white space and no byte order mark. */
function beginningOf(bytes: Uint8Array): number {
	let at = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
	while (at < bytes.length && (bytes[at] ?? 0) <= 0x20) at++;
	return at;
}
