/** The symbols that the model was trained on, and their numbers. Source: the vocabulary published with Kokoro-82M v1.0. */
const SYMBOLS: readonly (readonly [first: number, symbols: string])[] = [
	[1, ";:,.!?"],
	[9, '—…"()“” \u0303ʣʥʦʨᵝꭧAI'],
	[31, "O"],
	[33, "Q"],
	[35, "ST"],
	[39, "W"],
	[41, "Yᵊabcdef"],
	[50, "hijklmnopqrstuvwxyzɑɐɒæ"],
	[75, "βɔɕç"],
	[80, "ɖðʤə"],
	[85, "ɚɛɜ"],
	[90, "ɟ"],
	[92, "ɡ"],
	[99, "ɥ"],
	[101, "ɨɪʝ"],
	[110, "ɯɰŋɳɲɴø"],
	[118, "ɸθœ"],
	[123, "ɹ"],
	[125, "ɾɻ"],
	[128, "ʁɽʂʃʈʧ"],
	[135, "ʊʋ"],
	[138, "ʌɣɤ"],
	[142, "χʎ"],
	[147, "ʒʔ"],
	[156, "ˈˌː"],
	[162, "ʰ"],
	[164, "ʲ"],
	[169, "↓"],
	[171, "→↗↘"],
	[177, "ᵻ"],
];

const NUMBERS: ReadonlyMap<string, number> = new Map(
	SYMBOLS.flatMap(([first, symbols]) => [...symbols].map((symbol, index) => [symbol, first + index] as const)),
);

/**
 * Symbols in one run, without the two that the model needs around them. It takes 510; its memory grows by 25 MB with
 * each second of speech, and its work by a second or less of a core: a run is held to some five.
 */
export const MAX_TOKENS = 72;
const PAD = 0;

/** The text without what the model does not know. */
export const knownSymbols = (phonemes: string): string => [...phonemes].filter((symbol) => NUMBERS.has(symbol)).join("");

/** @param phonemes known symbols, at most `MAX_TOKENS` */
export const tokensOf = (phonemes: string): BigInt64Array =>
	BigInt64Array.from([PAD, ...[...phonemes].flatMap((symbol) => NUMBERS.get(symbol) ?? []), PAD], BigInt);

/** Whether there is a sound in it: not only punctuation, spaces and marks. */
export const hasSound = (phonemes: string): boolean => /[\p{Ll}\p{Lu}]/u.test(phonemes);
