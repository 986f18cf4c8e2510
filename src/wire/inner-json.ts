import { skipWhitespace } from "./json-scan.ts";
import { StrictJson } from "./strict-json.ts";

/**
 * Parses JSON inside a string of a body, whose depth the body's check did not cover. It may be no deeper than a body,
 * so that it can be written again.
 * @throws SyntaxError, or the INVALID_REQUEST of StrictJson
 */
export function innerJson(text: string | Uint8Array): unknown {
	const bytes = typeof text === "string" ? Buffer.from(text) : text;
	if (new StrictJson(bytes).endOfValue(skipWhitespace(bytes, 0)) < 0) throw new SyntaxError("no JSON");
	return JSON.parse(typeof text === "string" ? text : new TextDecoder().decode(text));
}
