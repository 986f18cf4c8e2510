import { ApiError } from "../errors/index.ts";
import { endOfString, MAX_JSON_DEPTH, tooDeep } from "./json-scan.ts";

/** Different keys take a parser 0.3 s by the million, and whoever walks over them as long again; values a tenth. No request needs them. */
const MAX_KEYS = 64_000;
/** Values of lists and objects, and lists and objects themselves. */
const MAX_VALUES = 256_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * Refuses JSON that would stop a parser, and with it the event loop, for long: nested deeper than MAX_JSON_DEPTH, or with
 * very many keys or values. One look at the bytes, without making anything of them; what is no JSON is for the parser to find.
 * @throws ApiError INVALID_REQUEST
 */
export function refuseHeavyJson(bytes: Uint8Array): void {
	let depth = 0;
	let keys = 0;
	let values = 0;
	for (let at = 0; at < bytes.length; at++) {
		switch (bytes[at]) {
			case QUOTE: {
				const end = endOfString(bytes, at);
				if (end < 0) return;
				at = end - 1;
				break;
			}
			case OPEN_BRACE:
			case OPEN_BRACKET:
				if (++depth > MAX_JSON_DEPTH) throw tooDeep();
				if (++values > MAX_VALUES) throw tooMany(MAX_VALUES, "values");
				break;
			case CLOSE_BRACE:
			case CLOSE_BRACKET:
				depth--;
				break;
			case COLON:
				if (++keys > MAX_KEYS) throw tooMany(MAX_KEYS, "keys");
				break;
			case COMMA:
				if (++values > MAX_VALUES) throw tooMany(MAX_VALUES, "values");
				break;
		}
	}
}

function tooMany(most: number, what: string): ApiError {
	return new ApiError("INVALID_REQUEST", { message: `The body has more than ${most} ${what}` });
}
