import { isUtf8 } from "node:buffer";
import { randomBytes } from "node:crypto";
import { ApiError } from "../errors/index.ts";
import { concatInSteps } from "./concat-bytes.ts";
import { cutBefore, isContinuation } from "./cut-before.ts";
import { BACKSLASH, CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from "./json-bytes.ts";
import { MAX_JSON_DEPTH, tooDeep } from "./json-scan.ts";
import { stringContentEnd, stringText } from "./json-string.ts";

const encoder = new TextEncoder();
const SPACE = 0x20;
const KIB = 1024;

/** Bytes read in one step: some milliseconds of work for any input. */
const STEP_BYTES = 1024 * KIB;
/** Strings are read byte by byte up to this length, then by native search: most strings are short. */
const NEAR = 64;
/** Maximum length of a number or word: parsers take 10 ms for a megabyte of digits. */
const MAX_SCALAR_BYTES = 1_024;

/** Limits of JSON. JSON beyond them would block a parser, and with it the event loop, for long. */
export interface JsonBounds {
	/** Bytes, without those cut out of long strings. */
	readonly bytes: number;
	/** Number of member names. */
	readonly keys: number;
	/** Number of different names: each is a new string, and ten times the work. */
	readonly differentKeys: number;
	/** Number of values, lists and objects. */
	readonly values: number;
}

/** Limits of a caller's body. No request needs more. */
export const BODY_BOUNDS: JsonBounds = { bytes: 16_384 * KIB, keys: 64_000, differentKeys: 64_000, values: 256_000 };
/** Limits of an upstream's answer: they allow log probabilities of 20 candidates for each of some 13,000 tokens. */
export const ANSWER_BOUNDS: JsonBounds = { bytes: 16_384 * KIB, keys: 1_000_000, differentKeys: 64_000, values: 1_000_000 };

/** Limits of an event of a stream, which is parsed in one turn. Some servers send a whole answer in one. */
export const EVENT_BOUNDS: JsonBounds = { bytes: 4_096 * KIB, keys: 300_000, differentKeys: 20_000, values: 200_000 };
/** Limits of an answer with a picture: packages that read the rest take long for each value. */
export const PICTURE_BOUNDS: JsonBounds = { bytes: 16_384 * KIB, keys: 20_000, differentKeys: 20_000, values: 20_000 };

/** The length from which strings are cut, and the length that remains. */
export interface CutLimits {
	readonly longerThan: number;
	readonly keep: number;
}

/** JSON up to this size is parsed whole. */
const WHOLE_BYTES = 4_096 * KIB;
/** Cuts nothing, to check the limits only. */
export const CUT_NOTHING: CutLimits = { longerThan: Number.POSITIVE_INFINITY, keep: 0 };
const CUT_LONG: CutLimits = { longerThan: 32 * KIB, keep: 4 * KIB };

/** A string that was cut short in the copy. */
export interface CutString {
	/** Position of its content in the original. */
	readonly start: number;
	/** Bytes of its content in the original, as written (with escapes). */
	readonly bytes: number;
	/** Number of its bytes in the copy. */
	readonly keptBytes: number;
	/** Number of its characters in the copy. */
	readonly keptChars: number;
}

export interface CutJson {
	/** The copy, or the original itself if no string is cut. */
	readonly json: Uint8Array;
	/** The cuts in order of appearance. */
	readonly cuts: readonly CutString[];
}

/**
 * Cuts the long strings of large JSON text to their beginnings and a mark (see LongStrings). JSON with media can then
 * be parsed and checked without blocking the event loop. JSON that would block it nevertheless is refused. Runs in
 * steps: see `inTurns`. Cuts never fall inside an escape or a UTF-8 sequence, so valid JSON stays valid. The copy's
 * parser finds the other faults.
 * @throws ApiError INVALID_REQUEST past the bounds; for a string without an end; for invalid content in the cut part of
 * a string, UTF-8 included
 */
export function cutJson(
	bytes: Uint8Array,
	bounds: JsonBounds,
	limits: CutLimits = bytes.length > WHOLE_BYTES ? CUT_LONG : CUT_NOTHING,
): Generator<undefined, CutJson> {
	return new Cutter(bytes, bounds, limits).steps();
}

class Cutter {
	readonly #bytes: Uint8Array;
	readonly #bounds: JsonBounds;
	readonly #limits: CutLimits;
	readonly #cuts: CutString[] = [];
	readonly #pieces: Uint8Array[] = [];
	/** The position up to which the original is copied or cut, and the length of the pieces. */
	#copiedTo = 0;
	#copyBytes = 0;
	#depth = 0;
	#keys = 0;
	readonly #keyHashes = new Set<number>();
	#values = 0;
	/** Start of the last string: a colon after it makes it a key. */
	#stringStart = 0;
	#stringEnd = 0;

	constructor(bytes: Uint8Array, bounds: JsonBounds, limits: CutLimits) {
		this.#bytes = bytes;
		this.#bounds = bounds;
		this.#limits = limits;
	}

	*steps(): Generator<undefined, CutJson> {
		const bytes = this.#bytes;
		const { length } = bytes;
		for (let at = 0, stepEnd = STEP_BYTES; at < length; ) {
			if (at >= stepEnd) {
				yield;
				stepEnd = at + STEP_BYTES;
			}
			at = this.#structure(at, Math.min(stepEnd, length));
			if (bytes[at] !== QUOTE) continue;
			const open = at;
			let read = endOfStringIn(bytes, open + 1, Math.min(open + 1 + STEP_BYTES, length));
			while (read < 0 && ~read < length) {
				yield;
				read = endOfStringIn(bytes, ~read, Math.min(~read + STEP_BYTES, length));
			}
			if (read < 0) throw malformedJson("a string has no end");
			at = read;
			this.#stringStart = open + 1;
			this.#stringEnd = at - 1;
			if (at - open - 2 > this.#limits.longerThan) yield* this.#cut(open + 1, at - 1);
			this.#checkSize(at);
		}
		if (this.#cuts.length === 0) return { json: bytes, cuts: this.#cuts };
		yield* this.#checkUtf8();
		this.#pieces.push(bytes.subarray(this.#copiedTo));
		return { json: yield* concatInSteps(this.#pieces), cuts: this.#cuts };
	}

	/** Reads the JSON between strings, up to the next quote or to `end`. Returns where it stopped. */
	#structure(start: number, end: number): number {
		const bytes = this.#bytes;
		let scalar = 0;
		for (let at = start; at < end; at++) {
			const byte = bytes[at] as number;
			switch (byte) {
				case QUOTE:
					this.#checkSize(at);
					return at;
				case OPEN_BRACE:
				case OPEN_BRACKET:
					if (++this.#depth > MAX_JSON_DEPTH) throw tooDeep();
					if (++this.#values > this.#bounds.values) throw tooMany(this.#bounds.values, "values");
					scalar = 0;
					break;
				case CLOSE_BRACE:
				case CLOSE_BRACKET:
					this.#depth--;
					scalar = 0;
					break;
				case COLON:
					this.#key();
					scalar = 0;
					break;
				case COMMA:
					if (++this.#values > this.#bounds.values) throw tooMany(this.#bounds.values, "values");
					scalar = 0;
					break;
				default:
					scalar = byte <= SPACE ? 0 : scalar + 1;
					if (scalar > MAX_SCALAR_BYTES) throw malformedJson(`a number or a word has more than ${MAX_SCALAR_BYTES} characters`);
			}
		}
		this.#checkSize(end);
		return end;
	}

	#key(): void {
		const { keys, differentKeys } = this.#bounds;
		if (++this.#keys > keys) throw tooMany(keys, "keys");
		if (keys === differentKeys) return;
		this.#keyHashes.add(hashOf(this.#bytes, this.#stringStart, Math.min(this.#stringEnd, this.#stringStart + KIB)));
		if (this.#keyHashes.size > differentKeys) throw tooMany(differentKeys, "different keys");
	}

	#checkSize(at: number): void {
		if (this.#copyBytes + at - this.#copiedTo <= this.#bounds.bytes) return;
		const { longerThan } = this.#limits;
		throw new ApiError("INVALID_REQUEST", {
			message: `The body has more than ${this.#bounds.bytes} bytes beside its strings of over ${longerThan} bytes`,
		});
	}

	*#cut(start: number, end: number): Generator<undefined, void> {
		const bytes = this.#bytes;
		const cut = cutBefore(bytes, start, start + this.#limits.keep);
		for (let at = start; at < end; ) {
			at = stringContentEnd(bytes, at, Math.min(at + STEP_BYTES, end));
			if (at < 0 || at > end) throw malformedJson("a string has a control character or a bad escape in it");
			if (at < end) yield;
		}
		const mark = encoder.encode(cutMark(this.#cuts.length));
		const keptChars = stringText(bytes.subarray(start, cut)).length;
		this.#cuts.push({ start, bytes: end - start, keptBytes: cut - start, keptChars });
		this.#pieces.push(bytes.subarray(this.#copiedTo, cut), mark);
		this.#copyBytes += cut - this.#copiedTo + mark.length;
		this.#copiedTo = end;
	}

	*#checkUtf8(): Generator<undefined, void> {
		const bytes = this.#bytes;
		for (let at = 0; at < bytes.length; ) {
			let end = Math.min(at + STEP_BYTES, bytes.length);
			while (end > at && end < bytes.length && isContinuation(bytes[end])) end--;
			if (end === at || !isUtf8(bytes.subarray(at, end))) throw malformedJson("it is not valid UTF-8");
			at = end;
			yield;
		}
	}
}

/**
 * Returns the index after the closing quote of a string whose content is read from `from`. Without one before `end`,
 * returns the complement (`~`) of the position to continue from, which is never inside an escape.
 */
function endOfStringIn(bytes: Uint8Array, from: number, end: number): number {
	let at = from;
	while (at < end) {
		const near = Math.min(at + NEAR, end);
		while (at < near) {
			const byte = bytes[at];
			if (byte === QUOTE) return at + 1;
			at += byte === BACKSLASH ? 2 : 1;
		}
		if (at >= end) break;
		const quote = bytes.subarray(at, end).indexOf(QUOTE);
		const stop = quote < 0 ? end : at + quote;
		let run = stop;
		while (run > at && bytes[run - 1] === BACKSLASH) run--;
		const isEscaped = (stop - run) % 2 === 1;
		if (quote >= 0 && !isEscaped) return stop + 1;
		at = isEscaped ? stop + 1 : stop;
	}
	return ~at;
}

/** Random in each process, so that nobody can craft keys with colliding hashes. */
const SEED = crypto.getRandomValues(new Int32Array(1))[0] ?? 0;

function hashOf(bytes: Uint8Array, start: number, end: number): number {
	let hash = SEED;
	for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), 0x0100_0193) + (hash >>> 15);
	return hash;
}

function tooMany(most: number, what: string): ApiError {
	return new ApiError("INVALID_REQUEST", { message: `The body has more than ${most} ${what}` });
}

function malformedJson(reason: string): ApiError {
	return new ApiError("INVALID_REQUEST", { message: `The body is not valid JSON: ${reason}` });
}

/** Returns the mark that replaces the rest of the string with this number in the copy: ASCII that needs no escape. */
export function cutMark(index: number): string {
	return `${MARK}${index}${MARK_END}`;
}

/** The mark at the end of each cut string, before its number. Random in each process: no caller can write one. */
export const MARK = `[cut ${randomBytes(16).toString("hex")} `;

export const MARK_END = "]";
