/**
 * Maps eSpeak NG's IPA to Kokoro's symbols: one letter for a diphthong or an affricate, American flaps as T, no length in
 * American vowels. Source: the phoneme list published with the model.
 */
import type { EspeakLanguage } from "./espeak.ts";

type Replacements = readonly (readonly [from: RegExp, to: string])[];

const AFFRICATES: Replacements = [
	[/dʒ/g, "ʤ"],
	[/tʃ/g, "ʧ"],
];

const ENGLISH: Replacements = [
	...AFFRICATES,
	[/eɪ/g, "A"],
	[/aɪ/g, "I"],
	[/aʊ/g, "W"],
	[/ɔɪ/g, "Y"],
	[/əl$/g, "ᵊl"],
	// A syllabic consonant becomes a small vowel and the consonant.
	[/(.)\u0329/gu, "ᵊ$1"],
	[/ʲ/g, ""],
	[/ɚ/g, "əɹ"],
	[/r/g, "ɹ"],
	[/[xç]/g, "k"],
	[/ɐ/g, "ə"],
	[/ɬ/g, "l"],
	[/ʔ/g, "t"],
	[/\u0303/g, ""],
];

const AMERICAN: Replacements = [
	[/oʊ/g, "O"],
	...ENGLISH,
	[/ɜːɹ?/g, "ɜɹ"],
	[/ɪə/g, "iə"],
	[/ɾ/g, "T"],
	[/ː/g, ""],
	[/[oe]/g, "ɔ"],
];

const BRITISH: Replacements = [[/əʊ/g, "Q"], [/eə/g, "ɛː"], [/iə/g, "ɪə"], ...ENGLISH, [/ɾ/g, "t"], [/o/g, "ɔ"]];

const ROMANCE: Replacements = [
	...AFFRICATES,
	[/dz/g, "ʣ"],
	[/ts/g, "ʦ"],
	[/eɪ/g, "A"],
	[/aɪ/g, "I"],
	[/aʊ/g, "W"],
	[/oʊ/g, "O"],
	[/əʊ/g, "Q"],
	[/ɔɪ/g, "Y"],
	[/-/g, ""],
];

const HINDI: Replacements = [[/r\./g, "ɽ"], ...ROMANCE];

const MAPPINGS: Readonly<Record<EspeakLanguage, Replacements>> = {
	"en-us": AMERICAN,
	"en-gb": BRITISH,
	es: ROMANCE,
	fr: ROMANCE,
	hi: HINDI,
	it: ROMANCE,
	"pt-br": ROMANCE,
};

/**
 * Maps one phoneme.
 * @param phoneme one of eSpeak NG's, with its stress mark: only within it do two letters make one sound
 */
export function mapPhoneme(phoneme: string, language: EspeakLanguage): string {
	return MAPPINGS[language].reduce((mapped, [from, to]) => mapped.replace(from, to), phoneme);
}
