import { decodeBase64Over } from "./base64-bytes.ts";
import { inTurns } from "./in-turns.ts";
import type { LongStrings } from "./long-strings.ts";

const COMMA = 0x2c;
/** Maximum length of a media type with its parameters. */
const MAX_HEAD = 512;
const encoder = new TextEncoder();

/**
 * Decodes a string of a body: base64, or a `data:` URL with it (RFC 2397). null if it is neither. A string that was
 * cut in the parsed copy is decoded in place over the body.
 */
export async function base64String(text: string, long: LongStrings): Promise<Uint8Array | null> {
	const { before, bytes } = long.viewOf(text) ?? { before: "", bytes: encoder.encode(text) };
	if (!/^data:/i.test(text)) return before === "" ? inTurns(decodeBase64Over(bytes)) : null;
	const head = text.slice(0, MAX_HEAD).split(",", 1)[0] ?? "";
	if (!/;base64$/i.test(head)) return null;
	if (head.length < before.length) return before.length === head.length + 1 ? inTurns(decodeBase64Over(bytes)) : null;
	const comma = bytes.subarray(0, MAX_HEAD).indexOf(COMMA);
	return comma < 0 ? null : inTurns(decodeBase64Over(bytes.subarray(comma + 1)));
}
