/** The answers of POST /audio/transcriptions, for the API document. */

import Type from "typebox";
import { named } from "../../schema/named-schema.ts";

const span = { start: Type.Number({ description: "Seconds" }), end: Type.Number({ description: "Seconds" }) };

const Text = named(
	"Transcription",
	Type.Object({
		text: Type.String(),
		duration: Type.Optional(Type.Number({ description: "Seconds. Present with timestamps" })),
		timestamps: Type.Optional(
			Type.Object({
				word: Type.Optional(Type.Array(Type.Object({ word: Type.String(), ...span }))),
				segment: Type.Optional(Type.Array(Type.Object({ text: Type.String(), ...span }))),
			}),
		),
	}),
);
const Verbose = named(
	"VerboseTranscription",
	Type.Object({
		task: Type.Literal("transcribe"),
		language: Type.String(),
		duration: Type.Number({ description: "Seconds" }),
		text: Type.String(),
		segments: Type.Array(Type.Object({ id: Type.Integer(), ...span, text: Type.String() })),
		words: Type.Optional(Type.Array(Type.Object({ word: Type.String(), ...span }))),
	}),
);

/** The answer in json and verbose_json; the other formats are text. */
export const TranscriptionSchema = Type.Union([Verbose, Text]);

/** The data of an event with `stream: true`. */
export const TranscriptionEventSchema = Type.Object({
	type: Type.Enum(["transcript.text.delta", "transcript.text.done"]),
	delta: Type.Optional(Type.String()),
	text: Type.Optional(Type.String()),
});
