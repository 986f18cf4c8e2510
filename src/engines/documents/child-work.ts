import Type from "typebox";

/** The message to a child: one file. */
export interface ReadJob {
	readonly id: number;
	readonly bytes: Uint8Array;
	readonly name: string;
}

/** The child's answer: the text, or why there is none. */
export const ReadDone = Type.Object({
	id: Type.Integer(),
	text: Type.Optional(Type.String()),
	fault: Type.Optional(
		Type.Object({
			kind: Type.Enum(["empty", "unsupported", "encrypted", "corrupt", "too-large", "too-costly"]),
			message: Type.String(),
		}),
	),
});

export interface ChildStart {
	/** The program that reads scanned pages; null if there is none. */
	readonly tesseract: string | null;
}
