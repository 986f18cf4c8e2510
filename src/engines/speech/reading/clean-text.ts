/** Removes what a voice cannot say: pictures, control characters, markup signs, broken characters. */

const FRACTIONS: Readonly<Record<string, string>> = { "½": "1/2", "¼": "1/4", "¾": "3/4", "⅓": "1/3", "⅔": "2/3", "⅛": "1/8" };

/** Pictures and their parts: flags, skin tones, joiners, variants, keycaps. Digits are not included. */
const PICTURES = /[\p{Extended_Pictographic}\u{1f1e6}-\u{1f1ff}\u{1f3fb}-\u{1f3ff}\u{e0020}-\u{e007f}]|\ufe0e|\ufe0f|\u20e3/gu;

/**
 * Normalises the text (NFKC) and removes characters without sound. Angle brackets, braces and the like become spaces, so that
 * the words of markup are read.
 */
export function cleanText(text: string): string {
	return (
		text
			.toWellFormed()
			.replace(/[½¼¾⅓⅔⅛]/g, (sign) => ` ${FRACTIONS[sign]}`)
			.replace(/™|©|®|℠/g, " ")
			.replace(/\u2026/g, "...")
			// Zero-width characters occur within words, control characters between them.
			.replace(/[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g, "")
			.normalize("NFKC")
			.replace(PICTURES, " ")
			.replace(/[\p{Cc}\p{Cn}\p{Co}\p{Cs}\ufffd]/gu, " ")
			// No language has more than three marks on one letter.
			.replace(/(\p{M}{3})\p{M}+/gu, "$1")
			.replace(/[<>{}[\]|\\^*`•·▪◦■□●○◆◇★☆→←↑↓]/g, " ")
			.replace(/\s+/gu, " ")
			.trim()
	);
}

/** Returns true if the text has anything that some language can pronounce. */
export const hasWords = (text: string): boolean => /[\p{L}\p{N}%&@$€£¥+=]/u.test(cleanText(text));
