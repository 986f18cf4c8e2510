/**
 * Phonemes of words by eSpeak NG (GPL-3), which runs as WebAssembly only in the speech engine's process. Import it from there
 * only.
 */
import load, { type EspeakWorker } from "@echogarden/espeak-ng-emscripten";

export type EspeakLanguage = "en-us" | "en-gb" | "es" | "fr" | "hi" | "it" | "pt-br";

/** Its own ids: `en-gb` and `fr-fr` name no file of this build. */
const VOICE_IDS: Readonly<Record<EspeakLanguage, string>> = {
	"en-us": "en-us",
	"en-gb": "gmw/en",
	es: "es",
	fr: "roa/fr",
	hi: "hi",
	it: "it",
	"pt-br": "pt-br",
};

export class Espeak {
	readonly #worker: EspeakWorker;
	#language: EspeakLanguage | null = null;

	private constructor(worker: EspeakWorker) {
		this.#worker = worker;
	}

	static async load(): Promise<Espeak> {
		const { eSpeakNGWorker } = await load();
		return new Espeak(new eSpeakNGWorker());
	}

	/**
	 * Returns each word as a list of phonemes with their stress marks.
	 * @param text words of one clause; punctuation within it is read as the language does
	 */
	words(text: string, language: EspeakLanguage): string[][] {
		if (this.#language !== language) {
			if (this.#worker.set_voice(VOICE_IDS[language], "", 0, 0, 0) !== 0) throw new Error(`eSpeak NG has no ${language}`);
			this.#language = language;
		}
		const { code, ipa } = this.#worker.synthesize_ipa(text);
		if (code !== 0) throw new Error(`eSpeak NG failed with code ${code}`);
		// eSpeak NG marks a change of language with "(en)" and the like.
		const words = ipa.replace(/\([a-z-]+\)/g, "").split(/\s+/);
		return words.map((word) => word.split("_").filter((phoneme) => phoneme !== "")).filter((word) => word.length > 0);
	}
}
