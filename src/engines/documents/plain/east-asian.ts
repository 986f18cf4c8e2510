/**
 * Detects short East Asian texts, such as lists of names and words, which have too few letters of their own (kana, Hangul) for
 * statistics.
 */

/** Encodings, and the lead bytes of the characters that each standard calls common. */
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
/** C1 controls, which text never has (ISO 6429), but wrongly decoded text does. */
const CONTROLS = /[\u0080-\u0084\u0086-\u009f]/;
const NOT_ASCII = /[^\0-\u007f]+/g;
const MOSTLY = 0.8;

/** Returns true if text decoded as Western is doubtful: it has C1 controls, or fewer than half of its foreign characters are letters. */
export function isDoubtful(western: string): boolean {
	const foreign = western.match(NOT_ASCII)?.join("") ?? "";
	const letters = foreign.match(/\p{L}/gu)?.length ?? 0;
	return CONTROLS.test(western) || letters < foreign.length / 2;
}

/**
 * Returns the encoding in which all foreign characters are East Asian, and nearly all of them common; null if there is none.
 */
export function eastAsianEncoding(bytes: Uint8Array): string | null {
	for (const [encoding, from, to] of COMMON) {
		const text = decode(bytes, encoding);
		const foreign = text?.match(NOT_ASCII)?.join("") ?? "";
		if (text === null || foreign === "" || !EAST_ASIAN.test(foreign) || !standsAlone(text)) continue;
		if (commonShare(bytes, from, to) >= MOSTLY) return encoding;
	}
	return null;
}

/** East Asian words have two characters or more; a misread Western sign is next to a letter. */
function standsAlone(text: string): boolean {
	const runs = text.match(/[a-z]?[^\0-\u007f]+[a-z]?/gi) ?? [];
	const words = runs.filter((run) => run.length > 1 && !/[a-z]/i.test(run));
	return words.length >= runs.length * MOSTLY;
}

function decode(bytes: Uint8Array, encoding: (typeof COMMON)[number][0]): string | null {
	try {
		return new TextDecoder(encoding, { fatal: true }).decode(bytes);
	} catch {
		return null;
	}
}

/** The share of common characters among those of two bytes. */
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
