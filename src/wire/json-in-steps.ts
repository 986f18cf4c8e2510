import { isUtf8 } from "node:buffer";
import { utf8Text } from "./byte-text.ts";
import { CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, OPEN_BRACKET, QUOTE } from "./json-bytes.ts";
import { documentStart } from "./json-members.ts";
import { endOfString, endOfValueWithin, MAX_JSON_DEPTH, skipWhitespace, tooDeep } from "./json-scan.ts";
import { textSlices } from "./text-slices.ts";

/** JSON up to this size is parsed in one step: a few milliseconds of work, whatever is in it. */
const STEP_BYTES = 128 * 1024;
/** Weight of one step: a number of values, or of characters counted in part. */
const STEP_WEIGHT = 16_384;
const CHARACTERS_OF_WEIGHT = 64;

/**
 * Parses large texts as JSON.parse does, in steps: see `inTurns`. The runtime parses small members, many at once. Only
 * members larger than a step are split here.
 * @param bytes UTF-8, with or without a byte order mark
 * @throws SyntaxError as JSON.parse does; ApiError INVALID_REQUEST for too deep nesting
 */
export function* parseInSteps(bytes: Uint8Array): Generator<undefined, unknown> {
	if (!isUtf8(bytes)) throw new SyntaxError("it is not valid UTF-8");
	const reader = new Reader(bytes);
	const value = yield* reader.value(skipWhitespace(bytes, documentStart(bytes)));
	const after = skipWhitespace(bytes, reader.at);
	if (after < bytes.length) throw unexpectedByte(after);
	return value;
}

/** Consecutive members of a list or an object. */
interface Run {
	/** Position after the last of them, before the comma. Equal to the start if there are none. */
	readonly end: number;
	/** Start of the next member, if it is too large for a step; else -1. */
	readonly large: number;
}

class Reader {
	/** Position after the bytes read so far. */
	at = 0;
	readonly #bytes: Uint8Array;
	#depth = 0;

	constructor(bytes: Uint8Array) {
		this.#bytes = bytes;
	}

	*value(start: number): Generator<undefined, unknown> {
		const end = this.#endOfSmall(start);
		if (end >= 0) {
			this.at = end;
			return JSON.parse(utf8Text(this.#bytes, start, end));
		}
		if (++this.#depth > MAX_JSON_DEPTH) throw tooDeep();
		const value = yield* this.#bytes[start] === OPEN_BRACKET ? this.#list(start) : this.#object(start);
		this.#depth--;
		return value;
	}

	*#list(start: number): Generator<undefined, unknown[]> {
		const list: unknown[] = [];
		for (let at = start + 1; at >= 0; ) {
			const { end, large } = this.#run(at, false);
			for (const value of JSON.parse(`[${utf8Text(this.#bytes, at, end)}]`) as unknown[]) list.push(value);
			yield;
			if (large >= 0) list.push(yield* this.value(large));
			at = this.#nextMember(large >= 0 ? this.at : end, CLOSE_BRACKET);
		}
		return list;
	}

	*#object(start: number): Generator<undefined, Record<string, unknown>> {
		const object: Record<string, unknown> = {};
		for (let at = start + 1; at >= 0; ) {
			const { end, large } = this.#run(at, true);
			const members = JSON.parse(`{${utf8Text(this.#bytes, at, end)}}`) as Record<string, unknown>;
			for (const key in members) addMember(object, key, members[key]);
			yield;
			if (large >= 0) {
				const valueStart = this.#valueStart(large);
				const key = JSON.parse(utf8Text(this.#bytes, large, endOfString(this.#bytes, large))) as string;
				addMember(object, key, yield* this.value(valueStart));
			}
			at = this.#nextMember(large >= 0 ? this.at : end, CLOSE_BRACE);
		}
		return object;
	}

	/** Returns the members from `start` on that are parsed in one step. */
	#run(start: number, isObject: boolean): Run {
		const bytes = this.#bytes;
		let end = start;
		for (let at = skipWhitespace(bytes, start); ; ) {
			if (end === start && bytes[at] === (isObject ? CLOSE_BRACE : CLOSE_BRACKET)) return { end, large: -1 };
			const valueEnd = this.#endOfSmall(isObject ? this.#valueStart(at) : at);
			if (valueEnd < 0) return { end, large: at };
			end = valueEnd;
			const comma = skipWhitespace(bytes, end);
			if (bytes[comma] !== COMMA || comma - start >= STEP_BYTES) return { end, large: -1 };
			at = skipWhitespace(bytes, comma + 1);
		}
	}

	/** Returns where the member's value ends; -1 for a list or an object that is too large for a step. */
	#endOfSmall(start: number): number {
		const end = endOfValueWithin(this.#bytes, start, STEP_BYTES);
		if (end === -1) throw unexpectedByte(start);
		return end;
	}

	/** Returns where the value of the member with this key begins. */
	#valueStart(at: number): number {
		const bytes = this.#bytes;
		const keyEnd = bytes[at] === QUOTE ? endOfString(bytes, at) : -1;
		const colon = keyEnd < 0 ? at : skipWhitespace(bytes, keyEnd);
		if (bytes[colon] !== COLON) throw unexpectedByte(colon);
		return skipWhitespace(bytes, colon + 1);
	}

	/** Returns where the next member begins; -1 after the last, with `at` after the end of the container. */
	#nextMember(memberEnd: number, close: number): number {
		const bytes = this.#bytes;
		const at = skipWhitespace(bytes, memberEnd);
		if (bytes[at] === close) {
			this.at = at + 1;
			return -1;
		}
		const next = skipWhitespace(bytes, at + 1);
		if (bytes[at] !== COMMA || bytes[next] === close) throw unexpectedByte(at);
		return next;
	}
}

/** Adds a member as JSON.parse does: "__proto__" is an ordinary key. */
function addMember(object: Record<string, unknown>, key: string, value: unknown): void {
	if (key === "__proto__") Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
	else object[key] = value;
}

function unexpectedByte(at: number): SyntaxError {
	return new SyntaxError(`Unexpected text at byte ${at}`);
}

/** Stringifies a value from JSON.parse as JSON.stringify does, in steps. */
export function* stringifyInSteps(value: unknown): Generator<undefined, string> {
	if (weightOf(value) < STEP_WEIGHT) return JSON.stringify(value);
	if (typeof value === "string") return yield* stringifyText(value);
	if (Array.isArray(value))
		return `[${yield* stringifyMembers(
			value,
			(from, to) => inside(value.slice(from, to)),
			(index) => stringifyInSteps(value[index]),
		)}]`;
	const entries = Object.entries(value as object);
	return `{${yield* stringifyMembers(
		Object.values(value as object),
		(from, to) => inside(Object.fromEntries(entries.slice(from, to))),
		function* (index) {
			const [key, member] = entries[index] as [string, unknown];
			return `${JSON.stringify(key)}:${yield* stringifyInSteps(member)}`;
		},
	)}}`;
}

function* stringifyText(text: string): Generator<undefined, string> {
	let written = "";
	for (const slice of textSlices(text)) {
		written += inside(slice);
		yield;
	}
	return `"${written}"`;
}

/** Writes members: runs of small ones by the runtime, large ones by themselves. */
function* stringifyMembers(
	members: readonly unknown[],
	write: (from: number, to: number) => string,
	writeLarge: (index: number) => Generator<undefined, string>,
): Generator<undefined, string> {
	const pieces: string[] = [];
	let from = 0;
	let weight = 0;
	for (let index = 0; index <= members.length; index++) {
		const added = index === members.length ? STEP_WEIGHT : weightOf(members[index]);
		weight += added;
		if (weight < STEP_WEIGHT) continue;
		if (index > from) pieces.push(write(from, index));
		yield;
		from = index;
		weight = added;
		if (index === members.length || added < STEP_WEIGHT) continue;
		pieces.push(yield* writeLarge(index));
		from = index + 1;
		weight = 0;
	}
	return pieces.filter((piece) => piece !== "").join(",");
}

/** Returns the JSON between the brackets, or the quotes. */
function inside(value: object | string): string {
	return JSON.stringify(value).slice(1, -1);
}

/** Returns the work to write a value: one for each value, and for some characters. It stops counting at STEP_WEIGHT. */
function weightOf(value: unknown): number {
	if (typeof value === "string") return 1 + Math.floor(value.length / CHARACTERS_OF_WEIGHT);
	if (typeof value !== "object" || value === null) return 1;
	let weight = 1;
	for (const key in value) {
		weight += 1 + weightOf((value as Record<string, unknown>)[key]);
		if (weight >= STEP_WEIGHT) break;
	}
	return weight;
}
