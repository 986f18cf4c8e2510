/** The messages between parent and child of the embedding engine. */
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

/** `tooLong` is the index of the first text that is too long for the model; there are no vectors then. */
export const EmbedDone = Type.Object({
	id: Type.Integer(),
	vectors: Type.Optional(Bytes),
	tokens: Type.Optional(Type.Integer({ minimum: 0 })),
	tooLong: Type.Optional(Type.Object({ index: Type.Integer({ minimum: 0 }), tokens: Type.Integer({ minimum: 0 }) })),
});
export type EmbedDone = Static<typeof EmbedDone>;
