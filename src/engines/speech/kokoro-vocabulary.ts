/** The symbols of the model's training, with their numbers. Source: the vocabulary published with Kokoro-82M v1.0. */
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
 * The most symbols in one run, without the two that the model needs around them. The model allows 510, but needs 25 MB and up
 * to a second of a core for each second of speech, so a run is about five seconds.
 */
export const MAX_TOKENS = 72;
const PAD = 0;

/** Removes symbols that the model does not know. */
export const knownSymbols = (phonemes: string): string => [...phonemes].filter((symbol) => NUMBERS.has(symbol)).join("");

/**
 * Returns the symbols' numbers.
 * @param phonemes known symbols, at most `MAX_TOKENS`
 */
export const tokensOf = (phonemes: string): BigInt64Array =>
	BigInt64Array.from([PAD, ...[...phonemes].flatMap((symbol) => NUMBERS.get(symbol) ?? []), PAD], BigInt);

/** Returns true if there is a sound, not only punctuation, spaces and marks. */
export const hasSound = (phonemes: string): boolean => /[\p{Ll}\p{Lu}]/u.test(phonemes);
