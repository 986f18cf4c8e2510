/** Decides which scripts a voice can speak. eSpeak NG spells unknown letters: "Chinese letter, Chinese letter". */
import type { SpeechLanguage } from "./port.ts";

const LATIN = ["Latin"];
const SPEAKABLE: Readonly<Record<SpeechLanguage, readonly string[]>> = {
	"en-us": LATIN,
	"en-gb": LATIN,
	es: LATIN,
	fr: LATIN,
	it: LATIN,
	"pt-br": LATIN,
	hi: ["Devanagari", "Latin"],
	ja: ["Han", "Hiragana", "Katakana", "Latin"],
	zh: ["Han", "Latin"],
};

/** The names of scripts in errors, by their Unicode names (UAX 24). Others are called "another script". */
const TITLES: Readonly<Record<string, string>> = {
	Hiragana: "Japanese",
	Katakana: "Japanese",
	Han: "Chinese or Japanese",
	Hangul: "Korean",
	...Object.fromEntries(
		(
			"Latin Cyrillic Greek Arabic Hebrew Thai Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam " +
			"Sinhala Lao Tibetan Myanmar Khmer Georgian Armenian Ethiopic Mongolian Bopomofo Syriac Thaana Cherokee"
		)
			.split(" ")
			.map((name) => [name, name]),
	),
};

/** A smaller share of foreign letters is a name or a few words, and does not change the text's language. */
const MOST_FOREIGN = 1 / 3;
/** A single Greek letter is a sign, which every language has a name for. */
const LONE_GREEK = /(?<!\p{Script=Greek})\p{Script=Greek}(?!\p{Script=Greek})/gu;
/** Letters of one script; marks and signs that several scripts share do not count. */
const LETTERS = /(?=\p{L})[^\p{Script=Common}\p{Script=Inherited}]/gu;

const countOf = (text: string, pattern: RegExp): number => [...text.matchAll(pattern)].length;
const lettersIn = (text: string, script: string): number => countOf(text, new RegExp(`(?=\\p{L})\\p{Script=${script}}`, "gu"));

/** Returns the script of the larger part of a text if a voice of the language cannot speak it; otherwise null. */
export function unsayableScript(text: string, language: SpeechLanguage): string | null {
	const written = text.replace(LONE_GREEK, " ");
	const letters = countOf(written, LETTERS);
	const speakableLetters = SPEAKABLE[language].reduce((sum, script) => sum + lettersIn(written, script), 0);
	if (letters - speakableLetters === 0 || letters - speakableLetters < letters * MOST_FOREIGN) return null;
	// Kana mean Japanese, whatever the number of Chinese characters between them.
	if (!SPEAKABLE[language].includes("Hiragana") && /[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(written)) return "Japanese";
	const counts = Object.entries(TITLES)
		.filter(([script]) => !SPEAKABLE[language].includes(script))
		.map(([script, title]) => ({ title, count: lettersIn(written, script) }))
		.sort((a, b) => b.count - a.count);
	const [most] = counts;
	return most !== undefined && most.count > 0 ? most.title : "another script";
}

/** Languages by their script, the stricter one first: only Japanese has kana, but others have Chinese characters, too. */
const BY_SCRIPT: readonly (readonly [language: SpeechLanguage, sign: RegExp])[] = [
	["ja", /[\p{Script=Hiragana}\p{Script=Katakana}]/u],
	["zh", /\p{Script=Han}/u],
	["hi", /\p{Script=Devanagari}/u],
];

/** Returns another language for a text that a voice of `usual` cannot speak; null if no voice can. */
export function languageByScript(text: string, usual: SpeechLanguage): SpeechLanguage | null {
	if (unsayableScript(text, usual) === null) return usual;
	const other = BY_SCRIPT.find(([language, sign]) => sign.test(text) && unsayableScript(text, language) === null);
	return other?.[0] ?? null;
}
