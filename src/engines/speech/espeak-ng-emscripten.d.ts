/** The used part of eSpeak NG as WebAssembly; the package has no types. */
declare module "@echogarden/espeak-ng-emscripten" {
	export interface EspeakWorker {
		/** Returns 0 on success. Ids are eSpeak NG's. */
		set_voice(id: string, languageName: string, gender: number, age: number, variant: number): number;
		/** Phonemes are separated by `_`, words by a space, clauses by a line feed; punctuation is lost. */
		synthesize_ipa(text: string): { readonly code: number; readonly ipa: string };
	}
	export interface EspeakModule {
		readonly eSpeakNGWorker: new () => EspeakWorker;
	}
	export default function load(): Promise<EspeakModule>;
}
