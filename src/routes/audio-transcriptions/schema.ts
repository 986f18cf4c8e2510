import Type, { type Static } from "typebox";

const TRANSCRIPT_FORMATS = ["json", "text", "srt", "vtt", "verbose_json"] as const;
export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

export const TranscriptionBodySchema = Type.Object(
	{
		model: Type.Optional(Type.String({ default: "nvidia/parakeet-tdt-0.6b-v3", description: "GET /models?type=asr lists them" })),
		response_format: Type.Optional(Type.Enum([...TRANSCRIPT_FORMATS], { default: "json" })),
		timestamps: Type.Optional(Type.Boolean({ default: false, description: "Ignored by models that return no times" })),
		prompt: Type.Optional(Type.String({ description: "Words that may occur in the audio. Ignored if the upstream takes none" })),
		temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 1, description: "Ignored if the upstream takes none" })),
		"timestamp_granularities[]": Type.Optional(
			Type.Enum(["word", "segment"], { description: "For verbose_json. If sent twice, the last one counts" }),
		),
		stream: Type.Optional(
			Type.Boolean({ description: "For json. true: the text is sent as server-sent events, transcript.text.delta and .done" }),
		),
		"include[]": Type.Optional(Type.String({ description: "Ignored" })),
		chunking_strategy: Type.Optional(Type.String({ description: "Ignored" })),
		language: Type.Optional(
			Type.String({ pattern: "^[A-Za-z]{2,3}(-[A-Za-z]{2,4})?$", description: "ISO 639-1. Absent: the language is detected" }),
		),
	},
	{ additionalProperties: false },
);
export type TranscriptionBody = Static<typeof TranscriptionBodySchema>;
