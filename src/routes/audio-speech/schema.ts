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
					"A voice of the model, or a handle vv_... made for it. auto or absent: a voice that suits the text, otherwise default_voice",
			}),
		),
		response_format: Type.Optional(Type.Enum([...AUDIO_FORMATS], { default: "mp3" })),
		speed: Type.Optional(Type.Number({ minimum: 0.25, maximum: 4, default: 1 })),
		streaming: Type.Optional(Type.Boolean({ default: false, description: "true: the audio is sent sentence by sentence" })),
		stream: Type.Optional(Type.Boolean({ description: "Same as `streaming`, with the name that OpenAI uses on other routes" })),
		stream_format: Type.Optional(
			Type.Enum(["audio", "sse"], {
				description: "sse: the audio is sent as server-sent events, in base64 in speech.audio.delta",
			}),
		),
		language: Type.Optional(
			Type.String({
				minLength: 2,
				maxLength: 32,
				description: "A hint. With the built-in model it selects the voice if none is named",
			}),
		),
		prompt: Type.Optional(
			Type.String({ maxLength: 500, description: "How to speak. Ignored by models that take no instructions" }),
		),
		instructions: Type.Optional(
			Type.String({ maxLength: 4096, description: "OpenAI's name for `prompt`. If both are sent, `prompt` counts" }),
		),
		temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2, description: "Ignored by models that take none" })),
		top_p: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: "Ignored by models that take none" })),
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
