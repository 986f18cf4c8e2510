/** Voices by the writing of the text: of the built-in model's voices the language is known, of others it is not. */
import type { SpeechProperties } from "../../catalog/types.ts";
import type { SpeechVoice } from "../../engines/speech/port.ts";
import { languageByScript, unsayableScript } from "../../engines/speech/scripts.ts";
import { voiceOf } from "../../engines/speech/voices.ts";
import { ApiError } from "../../errors/index.ts";

const LANGUAGE_NAMES = new Intl.DisplayNames("en", { type: "language", languageDisplay: "standard" });

/** The voice of a request that names none: one of the language that the text is written in, or that the caller says. */
export function voiceForText(text: string, hint: string | undefined, facts: SpeechProperties): string {
	const usual = voiceOf(facts.defaultVoice);
	if (usual === undefined) return facts.defaultVoice;
	const speakers = knownVoices(facts);
	const hinted = hint === undefined ? undefined : voiceForHint(hint, [usual, ...speakers]);
	if (hinted !== undefined && unsayableScript(text, hinted.language) === null) return hinted.id;
	const language = languageByScript(text, usual.language);
	if (language === usual.language) return usual.id;
	return speakers.find((voice) => voice.language === language)?.id ?? usual.id;
}

/** Why the built-in model cannot say the text in this voice; null where it can, and for voices that are not its own. */
export function unsayableText(text: string, name: string, facts: SpeechProperties, modelId: string): ApiError | null {
	const voice = voiceOf(name);
	const script = voice === undefined ? null : unsayableScript(text, voice.language);
	if (voice === undefined || script === null) return null;
	const able = knownVoices(facts).filter(({ language }) => unsayableScript(text, language) === null);
	const fault = `The text is written in ${script} script, which voice "${name}" (${titleOf(voice)}) cannot say`;
	if (able.length === 0)
		return new ApiError("INVALID_REQUEST", {
			message: `input: ${fault}, nor can another voice of "${modelId}": use a model whose voices speak the language`,
			param: "input",
		});
	const languages = [...new Set(able.map(titleOf))].join(" or ");
	const names = able.map(({ id }) => id).join(", ");
	return new ApiError("INVALID_REQUEST", {
		message: `voice: ${fault}: name a voice that speaks ${languages} (${names}), or voice "auto"`,
		param: "voice",
	});
}

const titleOf = ({ language }: SpeechVoice): string => LANGUAGE_NAMES.of(language) ?? language;

const knownVoices = (facts: SpeechProperties): readonly SpeechVoice[] =>
	facts.voices.flatMap((name) => {
		const voice = voiceOf(name);
		return voice === undefined ? [] : [voice];
	});

/** By its whole tag (BCP 47), `pt-BR`, else by its first part. */
function voiceForHint(hint: string, voices: readonly SpeechVoice[]): SpeechVoice | undefined {
	const tag = hint.toLowerCase().replaceAll("_", "-");
	const primary = (name: string) => name.split("-")[0];
	return voices.find(({ language }) => language === tag) ?? voices.find(({ language }) => primary(language) === primary(tag));
}
