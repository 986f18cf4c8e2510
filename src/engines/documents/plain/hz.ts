import { wordShare } from "./east-asian-words.ts";

/** `~{`, pairs of bytes of GB 2312 without their high bits, `~}`; or `~~`, or `~` at the end of a line (RFC 1843). */
const PIECE = /~\{((?:[!-w][!-~])*)~\}|~(~|\n)|~/g;
/** The minimum share of Chinese in words: code with such signs has none. */
const CERTAIN = 0.4;

/** Decodes a file in HZ-GB-2312, whose bytes are all ASCII; null if that is not certain. */
export function hzText(ascii: string): string | null {
	if (!ascii.includes("~{")) return null;
	let isHz = true;
	const text = ascii.replaceAll("\r\n", "\n").replace(PIECE, (_, pairs: string | undefined, escaped: string | undefined) => {
		if (pairs !== undefined) return chinese(pairs);
		if (escaped === undefined) isHz = false;
		return escaped === "~" ? "~" : "";
	});
	return isHz && (wordShare(text) ?? 0) >= CERTAIN ? text : null;
}

function chinese(pairs: string): string {
	const bytes = Uint8Array.from(pairs, (letter) => letter.charCodeAt(0) | 0x80);
	return new TextDecoder("gb18030").decode(bytes);
}
