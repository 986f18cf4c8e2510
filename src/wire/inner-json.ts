import { skipWhitespace } from "./json-scan.ts";
import { StrictJson } from "./strict-json.ts";

/**
 * The value of JSON that stands inside a string of a body, where the depth of the body says nothing of it. No deeper
 * than a body may be, so that it can be written again. Throws SyntaxError, or the INVALID_REQUEST of StrictJson.
 */
export function innerJson(text: string | Uint8Array): unknown {
	const bytes = typeof text === "string" ? Buffer.from(text) : text;
	if (new StrictJson(bytes).endOfValue(skipWhitespace(bytes, 0)) < 0) throw new SyntaxError("no JSON");
	return JSON.parse(typeof text === "string" ? text : new TextDecoder().decode(text));
}
