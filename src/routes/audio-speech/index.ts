/**
 * POST /audio/speech: a text as audio in the requested format, with any voice. The price is by the characters of the
 * text. A failure costs nothing. A caller that leaves stops the synthesis and pays for the part that was spoken. Texts
 * are never logged.
 */
import { audioRateLimit, hasFreeModel } from "../../catalog/index.ts";
import { AUDIO_CONTENT_TYPES } from "../../engines/audio/port.ts";
import { binaryAnswer } from "../../server/binary-answer.ts";
import { type Endpoint, metered } from "../../server/endpoint.ts";
import { admitSpeech } from "./admit.ts";
import type { SpeechDeps } from "./deps.ts";
import { MISNAMED_SPEECH_FIELDS, type SpeechBody, SpeechBodySchema, SpeechEventSchema } from "./schema.ts";

const MAX_BODY_BYTES = 1_048_576;

const { mp3, ...otherTypes } = AUDIO_CONTENT_TYPES;
const audio = binaryAnswer("The audio, with the Content-Type of its format", mp3, ...Object.values(otherTypes));

export function audioSpeech(deps: SpeechDeps): Endpoint {
	return metered({
		method: "POST",
		path: "/audio/speech",
		name: "audio-speech",
		tag: "Audio",
		summary: "Speech from text",
		description:
			"Returns the audio. With `streaming: true` its bytes are sent as they are generated. Otherwise it is sent whole, with its length.",
		openAi: true,
		callers: ["key", "wallet"],
		body: { schema: SpeechBodySchema, maxBytes: MAX_BODY_BYTES, misnamed: MISNAMED_SPEECH_FIELDS },
		answer: { ...audio, events: { name: "SpeechEvent", schema: SpeechEventSchema } },
		mayBeFree: () => hasFreeModel(deps.catalog(), "tts"),
		minuteWindow: ({ account }) => ({ subject: null, limit: audioRateLimit(account.tier, deps.config().limits) }),
		admit: (input, call) => admitSpeech({ ...input, body: input.body as SpeechBody }, call, deps),
	});
}

export type { SpeechDeps } from "./deps.ts";
