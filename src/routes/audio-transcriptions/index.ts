/**
 * POST /audio/transcriptions: the text of audio. The price is by the length of the audio, measured here before any
 * upstream is called. A failure costs nothing. Transcripts are never logged.
 */
import Type from "typebox";
import { audioRateLimit, hasFreeModel } from "../../catalog/index.ts";
import { type Endpoint, metered } from "../../server/endpoint.ts";
import { admitTranscription, type TranscriptionDeps } from "./admit.ts";
import { TranscriptionEventSchema, TranscriptionSchema } from "./answer-schema.ts";
import { type TranscriptionBody, TranscriptionBodySchema } from "./schema.ts";

const MAX_FILE_BYTES = 26_214_400;
/** 26 MiB, plus the overhead of a form. */
const MAX_BODY_BYTES = 27_262_976 + 65_536;

export function audioTranscriptions(deps: TranscriptionDeps): Endpoint {
	return metered({
		method: "POST",
		path: "/audio/transcriptions",
		name: "audio-transcriptions",
		tag: "Audio",
		summary: "Text from speech",
		description:
			"Takes a form with a file: WAV, FLAC, MP3, M4A or MP4, AAC, Ogg, WebM. The price depends on the length of the audio.",
		openAi: true,
		callers: ["key", "wallet"],
		body: {
			schema: TranscriptionBodySchema,
			maxBytes: MAX_BODY_BYTES,
			form: { file: "file", maxFileBytes: MAX_FILE_BYTES },
		},
		codes: ["INVALID_AUDIO_FORMAT", "ASR_UPSTREAM_VALIDATION_FAILED", "ASR_UPSTREAM_FAILED"],
		answer: {
			type: "application/json",
			schema: TranscriptionSchema,
			description: "The text. srt, vtt and text are sent as text/plain",
			others: { "text/plain": Type.String() },
			events: { name: "TranscriptionEvent", schema: TranscriptionEventSchema },
		},
		mayBeFree: () => hasFreeModel(deps.catalog(), "asr"),
		minuteWindow: ({ account }) => ({ subject: null, limit: audioRateLimit(account.tier, deps.config().limits) }),
		admit: (input, call) => admitTranscription({ ...input, body: input.body as TranscriptionBody }, call, deps),
	});
}

export type { TranscriptionDeps } from "./admit.ts";
