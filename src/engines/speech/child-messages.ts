/** The messages between parent and child of the speech engine. */
import Type, { type Static } from "typebox";
import Value from "typebox/value";

const ChildInit = Type.Object({
	modelPath: Type.String(),
	voicesPath: Type.String(),
	threads: Type.Integer({ minimum: 1 }),
});
export type ChildInit = Static<typeof ChildInit>;
export const parseChildInit = (message: unknown): ChildInit => Value.Parse(ChildInit, message);

const Language = Type.Enum(["en-us", "en-gb", "es", "fr", "hi", "it", "ja", "pt-br", "zh"]);

const SpeechWork = Type.Object({
	id: Type.Integer(),
	text: Type.String(),
	language: Language,
	voice: Type.String(),
	speed: Type.Number({ exclusiveMinimum: 0 }),
	/** Silence after the piece; 0 at the end. */
	pauseMs: Type.Number({ minimum: 0 }),
});
export type SpeechWork = Static<typeof SpeechWork>;
export const parseSpeechWork = (message: unknown): SpeechWork => Value.Parse(SpeechWork, message);

/** Samples as bytes, which the channel copies unchanged. None: the text has no sound. */
const SpeechDone = Type.Union([
	Type.Object({ id: Type.Integer(), ok: Type.Literal(true), samples: Type.Unsafe<Uint8Array>(Type.Unknown()) }),
	Type.Object({ id: Type.Integer(), ok: Type.Literal(false), fault: Type.String() }),
]);
export type SpeechDone = Static<typeof SpeechDone>;

/**
 * Parses a child's answer.
 * @throws {Error} if it is malformed
 */
export function parseSpeechDone(message: unknown): SpeechDone {
	const done = Value.Parse(SpeechDone, message);
	if (done.ok && !(done.samples instanceof Uint8Array && done.samples.byteLength % 2 === 0))
		throw new Error("the speech engine sent something else than samples");
	return done;
}
