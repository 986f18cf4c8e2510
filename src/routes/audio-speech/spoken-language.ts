/**
 * Chooses voices by the script of the text. The languages of the built-in model's voices are known, those of others are
 * not.
 */
import type { SpeechProperties } from "../../catalog/types.ts";
import type { SpeechVoice } from "../../engines/speech/port.ts";
import { languageByScript, unsayableScript } from "../../engines/speech/scripts.ts";
import { voiceOf } from "../../engines/speech/voices.ts";
import { ApiError } from "../../errors/index.ts";

const LANGUAGE_NAMES = new Intl.DisplayNames("en", { type: "language", languageDisplay: "standard" });

/**
 * Returns the voice of a request that names none: one for the language of the text, or the language that the caller
 * gives.
 */
export function voiceForText(text: string, hint: string | undefined, properties: SpeechProperties): string {
	const usual = voiceOf(properties.defaultVoice);
	if (usual === undefined) return properties.defaultVoice;
	const speakers = knownVoices(properties);
	const hinted = hint === undefined ? undefined : voiceForHint(hint, [usual, ...speakers]);
	if (hinted !== undefined && unsayableScript(text, hinted.language) === null) return hinted.id;
	const language = languageByScript(text, usual.language);
	if (language === usual.language) return usual.id;
	return speakers.find((voice) => voice.language === language)?.id ?? usual.id;
}

/**
 * Returns why the built-in model cannot speak the text in this voice; null if it can, and for voices that are not
 * its own.
 */
export function unsayableText(text: string, name: string, properties: SpeechProperties, modelId: string): ApiError | null {
	const voice = voiceOf(name);
	const script = voice === undefined ? null : unsayableScript(text, voice.language);
	if (voice === undefined || script === null) return null;
	const able = knownVoices(properties).filter(({ language }) => unsayableScript(text, language) === null);
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

const knownVoices = (properties: SpeechProperties): readonly SpeechVoice[] =>
	properties.voices.flatMap((name) => {
		const voice = voiceOf(name);
		return voice === undefined ? [] : [voice];
	});

/** Returns the voice for a whole language tag (BCP 47) like `pt-BR`, else for its first part. */
function voiceForHint(hint: string, voices: readonly SpeechVoice[]): SpeechVoice | undefined {
	const tag = hint.toLowerCase().replaceAll("_", "-");
	const primary = (name: string) => name.split("-")[0];
	return voices.find(({ language }) => language === tag) ?? voices.find(({ language }) => primary(language) === primary(tag));
}
