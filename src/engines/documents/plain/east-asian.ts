/**
 * Texts of East Asia that are too short, or have too few letters of their own (kana, Hangul), for their bytes to be told
 * by statistics: lists of names and words.
 */

/** Encodings, and the first bytes of the characters that each one's standard calls the common ones. */
const COMMON: readonly (readonly [encoding: "shift_jis" | "gb18030" | "euc-jp" | "big5" | "euc-kr", from: number, to: number])[] =
	[
		["shift_jis", 0x88, 0x97],
		["gb18030", 0xb0, 0xd7],
		["big5", 0xa4, 0xc6],
		["euc-kr", 0xb0, 0xc8],
		["euc-jp", 0xb0, 0xcf],
	];
const EAST_ASIAN =
	/^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\u30fb\u30fc\uff00-\uffef]+$/u;
/** C1: no text has them (ISO 6429), but what was read in a wrong encoding does. */
const CONTROLS = /[\u0080-\u0084\u0086-\u009f]/;
const NOT_ASCII = /[^\0-\u007f]+/g;
const MOSTLY = 0.8;

/** Whether a text that was read as Western has letters where Western ones have: beside signs, few of its own are. */
export function isDoubtful(western: string): boolean {
	const foreign = western.match(NOT_ASCII)?.join("") ?? "";
	const letters = foreign.match(/\p{L}/gu)?.length ?? 0;
	return CONTROLS.test(western) || letters < foreign.length / 2;
}

/** The encoding in which all foreign characters are of East Asia, nearly all of them common ones; null where none is. */
export function eastAsianEncoding(bytes: Uint8Array): string | null {
	for (const [encoding, from, to] of COMMON) {
		const text = decoded(bytes, encoding);
		const foreign = text?.match(NOT_ASCII)?.join("") ?? "";
		if (text === null || foreign === "" || !EAST_ASIAN.test(foreign) || !standsAlone(text)) continue;
		if (commonShare(bytes, from, to) >= MOSTLY) return encoding;
	}
	return null;
}

/** Words of East Asia have two characters or more; a sign of Western text that is read as one stands at a letter. */
function standsAlone(text: string): boolean {
	const runs = text.match(/[a-z]?[^\0-\u007f]+[a-z]?/gi) ?? [];
	const words = runs.filter((run) => run.length > 1 && !/[a-z]/i.test(run));
	return words.length >= runs.length * MOSTLY;
}

function decoded(bytes: Uint8Array, encoding: (typeof COMMON)[number][0]): string | null {
	try {
		return new TextDecoder(encoding, { fatal: true }).decode(bytes);
	} catch {
		return null;
	}
}

/** Of characters of two bytes. */
function commonShare(bytes: Uint8Array, from: number, to: number): number {
	let all = 0;
	let common = 0;
	for (let at = 0; at < bytes.length; at += 1) {
		const byte = bytes[at] ?? 0;
		if (byte < 0x80) continue;
		all += 1;
		if (byte >= from && byte <= to) common += 1;
		at += 1;
	}
	return all === 0 ? 0 : common / all;
}
