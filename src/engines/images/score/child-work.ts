import Type from "typebox";

/** The input of the adult-content model: RGB, row by row. */
export const VIEW_SIDE = 224;
export const VIEW_BYTES = VIEW_SIDE * VIEW_SIDE * 3;

/** The message to the scorer's child. */
export interface ScoreJob {
	readonly id: number;
	readonly views: Uint8Array;
}

export const ScoreDone = Type.Object({ id: Type.Integer(), scores: Type.Array(Type.Number({ minimum: 0, maximum: 1 })) });

export interface ScoreStart {
	readonly modelPath: string;
}
