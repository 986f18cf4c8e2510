import { arrayElements, topLevelMembers, utf8Text } from "../wire/index.ts";
import { type JsonSlice, memberOf } from "./body-view.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const SPACE = 0x20;

type Fields = Readonly<Record<string, unknown>>;

/**
 * What the events of a stream have in common: nearly all of them are the same JSON text but for one string, the
 * next piece of what the model says. An event that differs from a parsed one in the content of a string alone is
 * valid JSON too, and says the same in every other respect: it need not be parsed.
 */
export class EventFrame {
	/** The text up to and with the opening quote of that string. */
	readonly head: string;
	/** The text from its closing quote on. */
	readonly tail: string;

	constructor(head: string, tail: string) {
		this.head = head;
		this.tail = tail;
	}

	/** What the event says where it has this frame, decoded; null where it has another. */
	said(text: string): string | null {
		const end = text.length - this.tail.length;
		if (end < this.head.length || !text.startsWith(this.head) || !text.endsWith(this.tail)) return null;
		let escapes = false;
		for (let at = this.head.length; at < end; at++) {
			const code = text.charCodeAt(at);
			if (code === QUOTE || code < SPACE) return null;
			if (code !== BACKSLASH) continue;
			escapes = true;
			at++;
		}
		const written = text.slice(this.head.length, end);
		return escapes ? unescaped(written) : written;
	}
}

/** null where the escapes are not JSON's. */
function unescaped(written: string): string | null {
	try {
		return JSON.parse(`"${written}"`) as string;
	} catch {
		return null;
	}
}

/**
 * The frame of a parsed event: of one that carries a piece of one choice's text, thoughts or tool arguments and
 * nothing else that counts (no usage, no end). null for every other.
 */
export function frameOf(text: string, body: Fields): EventFrame | null {
	if ((body.usage ?? null) !== null || body.x_groq || body.eval_count) return null;
	const choice = only(body.choices);
	if (choice === null || typeof choice.finish_reason === "string") return null;
	const path = pathOfPiece(choice.delta);
	if (path === null) return null;
	const bytes = Buffer.from(text);
	let slice = firstElement(memberAt(bytes, "choices"));
	for (const key of ["delta", ...path]) slice = key === FIRST ? firstElement(slice) : memberOf(slice, key);
	if (slice === undefined || bytes[slice.start] !== QUOTE) return null;
	return new EventFrame(utf8Text(bytes, 0, slice.start + 1), utf8Text(bytes, slice.end - 1, bytes.length));
}

/** A step of a path: into the first element of an array. */
const FIRST = 0;

/** Where a delta has its one piece: a key, or the way into the arguments of its one tool call. null: none, or several. */
function pathOfPiece(delta: unknown): readonly (string | typeof FIRST)[] | null {
	if (!isRecord(delta)) return null;
	let path: readonly (string | typeof FIRST)[] | null = null;
	for (const key of ["content", "reasoning_content", "reasoning", "refusal", "tool_calls"]) {
		const value = delta[key];
		if (value === undefined || value === null || value === "") continue;
		if (path !== null) return null;
		if (key !== "tool_calls") path = typeof value === "string" ? [key] : null;
		else path = isArgumentsPiece(value) ? [key, FIRST, "function", "arguments"] : null;
		if (path === null) return null;
	}
	return path;
}

function isArgumentsPiece(calls: unknown): boolean {
	const called = only(calls)?.function;
	return isRecord(called) && !called.name && typeof called.arguments === "string" && called.arguments !== "";
}

/** The one element of an array, where it has just one and that is an object. */
function only(array: unknown): Fields | null {
	return Array.isArray(array) && array.length === 1 && isRecord(array[0]) ? array[0] : null;
}

function memberAt(bytes: Uint8Array, key: string): JsonSlice | undefined {
	const member = topLevelMembers(bytes).findLast((candidate) => candidate.key === key);
	return member && { bytes, start: member.valueStart, end: member.valueEnd };
}

function firstElement(array: JsonSlice | undefined): JsonSlice | undefined {
	if (array?.bytes[array.start] !== OPEN_BRACKET) return undefined;
	const range = arrayElements(array.bytes, array.start)[0];
	return range && { bytes: array.bytes, ...range };
}

function isRecord(value: unknown): value is Fields {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
