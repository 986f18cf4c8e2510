/** What the embedding process is told and what it answers. */
import Type, { type Static } from "typebox";

export interface ChildStart {
	readonly modelPath: string;
	readonly tokenizerPath: string;
	readonly threads: number;
}

export interface EmbedJob {
	readonly id: number;
	readonly texts: readonly string[];
}

const Bytes = Type.Refine(Type.Unsafe<Uint8Array>({}), (value) => value instanceof Uint8Array);

/** `tooLong` is the place of the first text that the model cannot read whole; there are no vectors then. */
export const EmbedDone = Type.Object({
	id: Type.Integer(),
	vectors: Type.Optional(Bytes),
	tokens: Type.Optional(Type.Integer({ minimum: 0 })),
	tooLong: Type.Optional(Type.Object({ index: Type.Integer({ minimum: 0 }), tokens: Type.Integer({ minimum: 0 }) })),
});
export type EmbedDone = Static<typeof EmbedDone>;
