import Type, { type Static } from "typebox";
import { AUDIO_FORMATS } from "../../engines/audio/port.ts";

/** Maximum length of a text in Unicode code points. */
export const MAX_INPUT_CHARACTERS = 4096;

export const SpeechBodySchema = Type.Object(
	{
		input: Type.String({ minLength: 1, maxLength: MAX_INPUT_CHARACTERS, description: "The text, up to 4096 characters" }),
		model: Type.Optional(Type.String({ default: "tts-kokoro", description: "GET /models?type=tts lists them" })),
		voice: Type.Optional(
			Type.String({
				description:
					"A voice of the model, or a handle vv_... made for it; auto, or left out: one that suits the text, else default_voice",
			}),
		),
		response_format: Type.Optional(Type.Enum([...AUDIO_FORMATS], { default: "mp3" })),
		speed: Type.Optional(Type.Number({ minimum: 0.25, maximum: 4, default: 1 })),
		streaming: Type.Optional(Type.Boolean({ default: false, description: "true: the audio is sent as its sentences are ready" })),
		stream: Type.Optional(Type.Boolean({ description: "The same as `streaming`, by OpenAI's name of other routes" })),
		stream_format: Type.Optional(
			Type.Enum(["audio", "sse"], { description: "sse: the audio comes in server-sent events, base64 in speech.audio.delta" }),
		),
		language: Type.Optional(
			Type.String({
				minLength: 2,
				maxLength: 32,
				description: "A hint; of the built-in model it chooses the voice where none is named",
			}),
		),
		prompt: Type.Optional(Type.String({ maxLength: 500, description: "How to speak; ignored where the model takes none" })),
		instructions: Type.Optional(Type.String({ maxLength: 4096, description: "OpenAI's name of `prompt`, which wins" })),
		temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2, description: "Ignored where the model takes none" })),
		top_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: "Ignored where the model takes none" })),
	},
	{ additionalProperties: false },
);
export type SpeechBody = Static<typeof SpeechBodySchema>;

/** Names that other services use for our fields. */
export const MISNAMED_SPEECH_FIELDS = { text: "input", format: "response_format" };

/** The data of an event with `stream_format: sse`. */
export const SpeechEventSchema = Type.Object({
	type: Type.Enum(["speech.audio.delta", "speech.audio.done"]),
	audio: Type.Optional(Type.String({ description: "Base64 of the next bytes" })),
});
