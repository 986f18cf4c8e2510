import { hasSound, knownSymbols, MAX_TOKENS } from "../kokoro-vocabulary.ts";
import type { SpeechLanguage } from "../port.ts";
import { cleanText } from "../reading/clean-text.ts";
import { englishInWords, mathSignsInWords } from "../reading/english-text.ts";
import { mathSignsInLanguage } from "../reading/math-words.ts";
import { chineseSounds } from "./chinese.ts";
import { clausesOf, joinClauses, modelPunctuation } from "./clauses.ts";
import { Espeak, type EspeakLanguage } from "./espeak.ts";
import { mapPhoneme } from "./espeak-mapping.ts";
import { JapaneseReader } from "./japanese.ts";

/** A Chinese clause ends with a comma directly before the next character. */
const CLOSE_MARK = /([,.!?;:])(?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])/gu;

/** Converts text to the model's symbols, in each of its languages. */
export class Phonemizer {
	readonly #espeak: Espeak;
	readonly #japanese = new JapaneseReader();

	private constructor(espeak: Espeak) {
		this.#espeak = espeak;
	}

	static async load(): Promise<Phonemizer> {
		return new Phonemizer(await Espeak.load());
	}

	/**
	 * Returns known symbols in runs of at most `MAX_TOKENS`; none if the text has no sound.
	 * @param text a sentence or a part of one
	 */
	async phonemes(text: string, language: SpeechLanguage): Promise<string[]> {
		const isEnglish = language === "en-us" || language === "en-gb";
		const cleaned = cleanText(isEnglish ? mathSignsInWords(text) : mathSignsInLanguage(text, language));
		const written = isEnglish ? englishInWords(cleaned, language === "en-gb") : cleaned;
		const spaced = language === "ja" || language === "zh" ? written.replace(CLOSE_MARK, "$1 ") : written;
		const clauses = [];
		for (const { words, mark } of clausesOf(modelPunctuation(spaced)))
			clauses.push({ phonemes: words === "" ? "" : knownSymbols(await this.#clause(words, language)), mark });
		const phonemes = joinClauses(clauses).replace(/\s+/g, " ");
		return hasSound(phonemes) ? runsOf(phonemes).filter(hasSound) : [];
	}

	async #clause(words: string, language: SpeechLanguage): Promise<string> {
		const readLatin = (latin: string) => (/[\p{L}\p{N}]/u.test(latin) ? this.#spoken(latin, "en-us") : "");
		if (language === "ja") return this.#japanese.sounds(words, readLatin);
		if (language === "zh") return chineseSounds(words, readLatin);
		return this.#spoken(words, language);
	}

	#spoken(words: string, language: EspeakLanguage): string {
		const spoken = this.#espeak.words(words, language);
		// A linking r follows the one that the previous vowel already became.
		return spoken
			.map((word) =>
				word
					.map((phoneme) => mapPhoneme(phoneme, language))
					.join("")
					.replaceAll("ɹɹ", "ɹ"),
			)
			.join(" ");
	}
}

/** Splits phonemes into runs for the model: after a sign, else between words, else anywhere. */
export function runsOf(phonemes: string, maxTokens = MAX_TOKENS): string[] {
	const runs: string[] = [];
	let rest = [...phonemes];
	while (rest.length > maxTokens) {
		const window = rest.slice(0, maxTokens);
		const mark = window.findLastIndex((symbol) => /[.!?…;:,—]/u.test(symbol));
		const space = window.lastIndexOf(" ");
		const cut = mark > maxTokens / 2 ? mark + 1 : space > 0 ? space : maxTokens;
		runs.push(rest.slice(0, cut).join("").trim());
		rest = rest.slice(cut);
	}
	runs.push(rest.join("").trim());
	return runs.filter((run) => run !== "");
}
