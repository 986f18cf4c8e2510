import type { StoredVoice, VoiceService } from "../../access/index.ts";
import type { Caller } from "../../budgets/port.ts";
import type { SpeechModel, SpeechProperties } from "../../catalog/types.ts";
import { ApiError } from "../../errors/index.ts";
import { openAiVoice } from "./openai-voices.ts";
import type { SpeechBody } from "./schema.ts";
import { voiceForText } from "./spoken-language.ts";

/** The chosen voice: one of the model's, or one that the caller brought. */
export type ChosenVoice =
	| { readonly kind: "own"; readonly name: string }
	| { readonly kind: "cloned"; readonly voice: StoredVoice };

/** The voice name that means a voice for the text's language. */
const AUTO = "auto";
const HANDLE = /^vv_[A-Za-z0-9_-]{1,200}$/;

/**
 * Returns the voice of a request.
 * @throws ApiError INVALID_REQUEST for a voice that the model does not have, and for a handle that is not the caller's,
 * has expired, or was made for another model
 */
export async function chooseVoice(
	{ voice: name, input, language }: Pick<SpeechBody, "voice" | "input" | "language">,
	model: SpeechModel,
	properties: SpeechProperties,
	caller: Caller,
	voices: VoiceService,
): Promise<ChosenVoice> {
	if (name !== undefined && properties.voices.includes(name)) return { kind: "own", name };
	if (name === undefined || name === AUTO) return { kind: "own", name: voiceForText(input, language, properties) };
	if (HANDLE.test(name)) return { kind: "cloned", voice: await clonedVoice(name, model, caller, voices) };
	const alias = openAiVoice(name, properties.voices);
	if (alias !== undefined) return { kind: "own", name: alias };
	const list = properties.voices.join(", ");
	throw badVoice(`Voice ${JSON.stringify(shorten(name))} is not supported by model "${model.id}". Supported voices: ${list}`);
}

async function clonedVoice(id: string, model: SpeechModel, caller: Caller, voices: VoiceService): Promise<StoredVoice> {
	const voice = await voices.find(caller, id);
	if (voice === null)
		throw badVoice(
			`Voice "${shorten(id)}" is not one of your cloned voices, or it has expired; GET /api/v1/audio/voices lists them`,
		);
	if (voice.modelId !== model.id)
		throw badVoice(`Voice "${id}" was made for model "${voice.modelId}" and cannot be used with "${model.id}"`);
	return voice;
}

function badVoice(message: string): ApiError {
	return new ApiError("INVALID_REQUEST", { message, param: "voice" });
}

function shorten(text: string): string {
	return text.length > 100 ? `${text.slice(0, 100)}...` : text;
}
