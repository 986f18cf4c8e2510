import { isUtf8 } from "node:buffer";
import { ApiError, type Issue } from "../../errors/index.ts";
import { invalidRequest } from "../../schema/index.ts";
import {
	type ByteRange,
	bytesAre,
	CLOSE_BRACE,
	CLOSE_BRACKET,
	COMMA,
	decodeString,
	documentStart,
	foldedName,
	OPEN_BRACE,
	OPEN_BRACKET,
	QUOTE,
	StrictJson,
	skipWhitespace,
} from "../../wire/index.ts";

/** Maximum number of items of a batch. */
export const MAX_ITEMS = 100;
/** Maximum length of a method's name; all offending names go into one error. */
const MAX_METHOD_CHARACTERS = 128;
/** Maximum number of an item's members, as at the top of other bodies. */
const MAX_MEMBERS = 1_000;
/** Maximum number of faults in one answer. */
const MAX_ISSUES = 20;
/** Maximum length of a refused name in a message; the part after a NUL may be long. */
const MAX_SHOWN_NAME = 64;
const MISSING_ID = "id_required";
/** Above this number, comparing a key with each other one costs more than a set. */
const FEW_KEYS = 12;

/** Matches names whose bytes are their characters. */
const PLAIN_NAME = /^\w+$/;
/** Known keys beside `id`. */
const KNOWN_KEYS = ["method", "params", "jsonrpc"] as const;

const MINUS = 0x2d;
const ZERO = 0x30;
const NINE = 0x39;
const LETTER_N = 0x6e;

/** One JSON-RPC request: its method, and the positions of its raw texts in the body. */
export interface RequestItem {
	/** The decoded method. */
	readonly method: string;
	/** An array or, of starknet_*, an object; null if it is left out or null: no parameters. */
	readonly params: ByteRange | null;
	/** A string, a number or null; null if it is left out. */
	readonly id: ByteRange | null;
}

/** A body of JSON-RPC 2.0 requests, checked as a whole. */
export interface RequestBody {
	readonly bytes: Uint8Array;
	/** True for an array, which is answered with an array. */
	readonly batch: boolean;
	/** 1 to 100. */
	readonly items: readonly RequestItem[];
}

/**
 * Reads a body (docs/rpc.md): one request or an array of them. Unknown members are dropped. An upstream's item is built
 * from the decoded method and the raw bytes of params and id, so it has the method that was checked.
 * @throws ApiError INVALID_REQUEST for other JSON and no JSON; RPC_BATCH_INVALID for a batch without items, with too
 * many, or with items without an id
 */
export function readRequestBody(bytes: Uint8Array): RequestBody {
	if (!isUtf8(bytes)) throw new ApiError("INVALID_REQUEST", { message: "The body is not valid UTF-8" });
	return new EnvelopeReader(bytes).read();
}

class EnvelopeReader {
	readonly #bytes: Uint8Array;
	readonly #json: StrictJson;
	readonly #issues: Issue[] = [];
	/** The method of the previous item, which the next one often has too. */
	#lastMethod = "";

	constructor(bytes: Uint8Array) {
		this.#bytes = bytes;
		this.#json = new StrictJson(bytes);
	}

	read(): RequestBody {
		const bytes = this.#bytes;
		const start = documentStart(bytes);
		if (start >= bytes.length) throw new ApiError("INVALID_REQUEST", { message: "The body is empty" });
		const batch = bytes[start] === OPEN_BRACKET;
		const items: RequestItem[] = [];
		const end = batch ? this.#array(start, items) : this.#item(start, null, items);
		const after = skipWhitespace(bytes, end);
		if (after < bytes.length) throw notJson(bytes, after);
		if (this.#issues.length > 0) throw this.#refusal();
		if (items.length === 0) throw new ApiError("RPC_BATCH_INVALID", { message: "Batch is empty" });
		return { bytes, batch, items };
	}

	#array(open: number, items: RequestItem[]): number {
		const bytes = this.#bytes;
		let at = skipWhitespace(bytes, open + 1);
		if (bytes[at] === CLOSE_BRACKET) return at + 1;
		for (let index = 0; ; index++) {
			if (index === MAX_ITEMS) throw new ApiError("RPC_BATCH_INVALID", { message: `Batch exceeds ${MAX_ITEMS} items` });
			at = skipWhitespace(bytes, this.#item(at, index, items));
			if (bytes[at] === CLOSE_BRACKET) return at + 1;
			if (bytes[at] !== COMMA) throw notJson(bytes, at);
			at = skipWhitespace(bytes, at + 1);
		}
	}

	/** Reads the value at `open` as an item, and adds the item or its faults. Returns where it ends. */
	#item(open: number, index: number | null, items: RequestItem[]): number {
		const bytes = this.#bytes;
		if (bytes[open] !== OPEN_BRACE) {
			const end = this.#valid(this.#json.endOfValue(open));
			this.#issue(
				index,
				null,
				"type",
				index === null ? "The body must be a JSON-RPC request or an array of them" : "must be object",
			);
			return end;
		}
		let method: string | null = null;
		let params: ByteRange | null = null;
		let id: ByteRange | null = null;
		let byName = false;
		/** The known members seen so far, by bit. */
		let seen = 0;
		const others = new Keys();
		let at = skipWhitespace(bytes, open + 1);
		while (bytes[at] !== CLOSE_BRACE) {
			const keyAt = at;
			const valueAt = this.#valid(this.#json.endOfKey(keyAt));
			const valueEnd = this.#valid(this.#json.endOfValue(valueAt));
			const first = bytes[valueAt] as number;
			const key = this.#keyAt(keyAt);
			const bit = key === "method" ? 1 : key === "params" ? 2 : key === "id" ? 4 : key === "jsonrpc" ? 8 : 0;
			if (bit === 0) this.#otherKey(index, key, others);
			else if ((seen & bit) !== 0) this.#issue(index, key, "repeated_key", "is there twice");
			seen |= bit;
			if (bit === 1) method = this.#method(index, first, valueAt, valueEnd);
			else if (bit === 2) {
				if (first === OPEN_BRACKET || first === OPEN_BRACE) params = { start: valueAt, end: valueEnd };
				else if (first !== LETTER_N) this.#issue(index, "params", "type", "must be array");
				byName = first === OPEN_BRACE;
			} else if (bit === 4) {
				if (first === QUOTE || first === MINUS || first === LETTER_N || (first >= ZERO && first <= NINE))
					id = { start: valueAt, end: valueEnd };
				else this.#issue(index, "id", "type", "must be string or number or null");
			} else if (
				bit === 8 &&
				!bytesAre(bytes, valueAt, valueEnd, '"2.0"') &&
				(first !== QUOTE || decodeString(bytes, valueAt, valueEnd) !== "2.0")
			)
				this.#issue(index, "jsonrpc", "const", 'must be "2.0"');
			at = skipWhitespace(bytes, valueEnd);
			if (bytes[at] === CLOSE_BRACE) break;
			if (bytes[at] !== COMMA) throw notJson(bytes, at);
			at = skipWhitespace(bytes, at + 1);
			if (bytes[at] !== QUOTE) throw notJson(bytes, at);
		}
		if ((seen & 1) === 0) this.#issue(index, "method", "required", "is required");
		if (byName && method !== null && !takesParamsByName(method)) this.#issue(index, "params", "type", "must be array");
		if (index !== null && (seen & 4) === 0) this.#issue(index, "id", MISSING_ID, "is required in a batch");
		if (method !== null) items.push({ method, params, id });
		return at + 1;
	}

	/**
	 * Checks an unknown key: it must not be repeated, nor resemble a known key without case, since some nodes ignore
	 * case.
	 */
	#otherKey(index: number | null, key: string, others: Keys): void {
		const folded = foldedName(key);
		if (folded === "id" || KNOWN_KEYS.some((known) => known === folded))
			this.#issue(index, key.slice(0, MAX_SHOWN_NAME), "misspelled_key", `is '${folded}' in another spelling; write '${folded}'`);
		else if (!others.add(key)) this.#issue(index, key, "repeated_key", "is there twice");
	}

	/** Returns the key's text. For known keys it is a constant, so no string is created. */
	#keyAt(open: number): string {
		const bytes = this.#bytes;
		if (bytes[open + 3] === QUOTE && bytes[open + 1] === 0x69 && bytes[open + 2] === 0x64) return "id";
		const end = this.#json.endOfString(open);
		for (const known of KNOWN_KEYS) if (bytesAre(bytes, open + 1, end - 1, known)) return known;
		return decodeString(bytes, open, end);
	}

	#method(index: number | null, first: number, start: number, end: number): string | null {
		if (first !== QUOTE) {
			this.#issue(index, "method", "type", "must be string");
			return null;
		}
		const last = this.#lastMethod;
		if (last !== "" && bytesAre(this.#bytes, start + 1, end - 1, last)) return last;
		// An escaped character takes six bytes.
		const method = end - start - 2 > MAX_METHOD_CHARACTERS * 6 ? null : decodeString(this.#bytes, start, end);
		if (method !== null && method !== "" && method.length <= MAX_METHOD_CHARACTERS) {
			if (PLAIN_NAME.test(method)) this.#lastMethod = method;
			return method;
		}
		if (method === "") this.#issue(index, "method", "too_small", "must not be empty");
		else this.#issue(index, "method", "too_big", `must not have more than ${MAX_METHOD_CHARACTERS} characters`);
		return null;
	}

	#issue(index: number | null, key: string | null, code: string, message: string): void {
		if (this.#issues.length >= MAX_ISSUES) return;
		this.#issues.push({ path: [...(index === null ? [] : [index]), ...(key === null ? [] : [key])], code, message });
	}

	#refusal(): ApiError {
		const refusal = invalidRequest(this.#issues);
		if (this.#issues.some((issue) => issue.code !== MISSING_ID)) return refusal;
		return new ApiError("RPC_BATCH_INVALID", { ...refusal.options, message: refusal.message });
	}

	#valid(end: number): number {
		if (end < 0) throw notJson(this.#bytes, this.#json.faultAt);
		return end;
	}
}

/** The unknown keys of an item, to refuse repeated ones. */
class Keys {
	#few: string[] | null = null;
	#many: Set<string> | null = null;

	/** Adds a key; returns false if it is repeated. */
	add(key: string): boolean {
		if (this.#many !== null) {
			if (this.#many.size === MAX_MEMBERS)
				throw new ApiError("INVALID_REQUEST", { message: `An item has more than ${MAX_MEMBERS} members` });
			return this.#many.size < this.#many.add(key).size;
		}
		this.#few ??= [];
		if (this.#few.includes(key)) return false;
		this.#few.push(key);
		if (this.#few.length > FEW_KEYS) this.#many = new Set(this.#few);
		return true;
	}
}

/** Returns true for methods whose protocol has parameters by name as well. */
function takesParamsByName(method: string): boolean {
	return method.startsWith("starknet_");
}

function notJson(bytes: Uint8Array, at: number): ApiError {
	const reason = at >= bytes.length ? "it breaks off" : `what stands at byte ${at} does not belong there`;
	return new ApiError("INVALID_REQUEST", { message: `The body is not valid JSON: ${reason}` });
}
