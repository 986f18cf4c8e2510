/** eSpeak NG as WebAssembly; the package has no types. Only what is used here. */
declare module "@echogarden/espeak-ng-emscripten" {
	export interface EspeakWorker {
		/** 0: done. Ids as eSpeak NG lists them. */
		set_voice(id: string, languageName: string, gender: number, age: number, variant: number): number;
		/** Phonemes are separated by `_`, words by a space, clauses by a line feed; punctuation is lost. */
		synthesize_ipa(text: string): { readonly code: number; readonly ipa: string };
	}
	export interface EspeakModule {
		readonly eSpeakNGWorker: new () => EspeakWorker;
	}
	export default function load(): Promise<EspeakModule>;
}
