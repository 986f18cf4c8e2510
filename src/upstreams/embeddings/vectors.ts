import {
	CLOSE_BRACKET,
	COMMA,
	decodeString,
	endOfValue,
	lastMember,
	nextTurn,
	OPEN_BRACKET,
	objectMembers,
	QUOTE,
	StrictJson,
	skipWhitespace,
} from "../../wire/index.ts";
import type { VectorFormat } from "./port.ts";

/** A list of vectors in OpenAI's form. */
export interface Vectors {
	/** JSON in pieces. The vectors are views of the answer, not copies. */
	readonly pieces: readonly Uint8Array[];
	/** Number of vectors; null: the answer is no list of vectors. */
	readonly count: number | null;
}

const NONE: Vectors = { pieces: [], count: null };
/** Number of bytes read between two turns of the event loop. */
const TURN_BYTES = 512 * 1024;

const NUMBERS = /^\[\s*-?\d[\d\s,.eE+-]*\]$/;
/** Matches numbers that may exceed float32: with an exponent, or of 39 digits. */
const MAY_BE_LARGE = /[eE]|\d{39}/;
const encoder = new TextEncoder();

/** Limits of a list of vectors. */
export interface VectorBounds {
	/** Maximum number of vectors. */
	readonly count: number;
	/** Maximum bytes of one vector with the JSON around it. */
	readonly bytes: number;
	/** Numbers in each vector; null: not known, but the same for all. */
	readonly dimensions: number | null;
}

/**
 * Reads the `data` of an answer, a JSON array of `{index, embedding}`. Returns the vectors in the order of `index` and
 * in the requested form. A vector in that form stays byte for byte.
 */
export async function vectorsIn(bytes: Uint8Array, format: VectorFormat, bounds: VectorBounds): Promise<Vectors> {
	if (bytes[0] !== OPEN_BRACKET) return NONE;
	const vectors: Uint8Array[] = [];
	let count = 0;
	let sinceTurn = 0;
	let { dimensions } = bounds;
	try {
		for (let at = skipWhitespace(bytes, 1); bytes[at] !== CLOSE_BRACKET; count++) {
			if (count === bounds.count) return NONE;
			const end = endOfValue(bytes.subarray(0, at + bounds.bytes), at);
			if (end < 0) return NONE;
			const read = vectorOf(bytes.subarray(at, end), count, format);
			// An index beyond the list would make an array with up to 2^32 holes.
			if (read === null || read.index >= bounds.count || vectors[read.index] !== undefined) return NONE;
			dimensions ??= read.vector.dimensions;
			if (read.vector.dimensions !== dimensions) return NONE;
			vectors[read.index] = read.vector.written;
			sinceTurn += end - at;
			if (sinceTurn > TURN_BYTES) {
				sinceTurn = 0;
				await nextTurn();
			}
			at = skipWhitespace(bytes, end);
			const isLast = bytes[at] === CLOSE_BRACKET;
			if (!isLast && bytes[at] !== COMMA) return NONE;
			if (!isLast) at = skipWhitespace(bytes, at + 1);
			if (!isLast && bytes[at] === CLOSE_BRACKET) return NONE;
		}
	} catch {
		return NONE;
	}
	return vectors.length > count ? NONE : { pieces: vectorList(vectors), count };
}

/** Reads one element; null if it is no vector. `place` is its index if it has none of its own. */
function vectorOf(element: Uint8Array, place: number, format: VectorFormat): { index: number; vector: Vector } | null {
	const members = objectMembers(element, 0);
	const vector = lastMember(members, "embedding");
	const indexMember = lastMember(members, "index");
	const index = indexMember === undefined ? place : Number(text(element.subarray(indexMember.valueStart, indexMember.valueEnd)));
	const own = vector && inForm(element.subarray(vector.valueStart, vector.valueEnd), format);
	return own && Number.isInteger(index) && index >= 0 ? { index, vector: own } : null;
}

/** Returns the JSON list around vectors that are JSON already. */
export function vectorList(vectors: readonly Uint8Array[]): Uint8Array[] {
	const pieces = vectors.flatMap((vector, index) => [
		encoder.encode(`${index === 0 ? "[" : ","}{"object":"embedding","index":${index},"embedding":`),
		vector,
		encoder.encode("}"),
	]);
	return [...pieces, encoder.encode(vectors.length === 0 ? "[]" : "]")];
}

/** Returns numbers as JSON: a list, or a string of base64 of little-endian float32. */
export function writtenVector(numbers: Float32Array, format: VectorFormat): Uint8Array {
	if (format === "float") return encoder.encode(JSON.stringify(Array.from(numbers)));
	return encoder.encode(`"${Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength).toString("base64")}"`);
}

interface Vector {
	readonly written: Uint8Array;
	readonly dimensions: number;
}

/** Returns a vector in the requested form; null if it is none, or has a number beyond float32. */
function inForm(json: Uint8Array, format: VectorFormat): Vector | null {
	if (json[0] === OPEN_BRACKET) {
		const written = text(json);
		if (!NUMBERS.test(written) || new StrictJson(json).endOfValue(0) !== json.length) return null;
		if (format === "float" && !MAY_BE_LARGE.test(written)) return { written: json, dimensions: commasIn(json) + 1 };
		const numbers = Float32Array.from(JSON.parse(written) as number[]);
		if (!numbers.every(Number.isFinite)) return null;
		return { written: format === "float" ? json : writtenVector(numbers, format), dimensions: numbers.length };
	}
	if (json[0] !== QUOTE) return null;
	const packed = decodeString(json, 0, json.length);
	const bytes = Buffer.from(packed, "base64");
	if (bytes.length === 0 || bytes.length % 4 !== 0 || bytes.toString("base64") !== packed) return null;
	const numbers = new Float32Array(new Uint8Array(bytes).buffer);
	if (!numbers.every(Number.isFinite)) return null;
	return { written: format === "base64" ? json : writtenVector(numbers, format), dimensions: numbers.length };
}

function commasIn(json: Uint8Array): number {
	let count = 0;
	for (const byte of json) if (byte === COMMA) count++;
	return count;
}

function text(bytes: Uint8Array): string {
	return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
