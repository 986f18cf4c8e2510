/** The first messages between parent and child of the chat engine. */
import Type, { type Static } from "typebox";
import Value from "typebox/value";

const ChildInit = Type.Object({
	modelPath: Type.String(),
	modelId: Type.String(),
	secret: Type.String({ minLength: 32 }),
	sealingKey: Type.String({ pattern: "^[0-9a-f]{64}$" }),
	threads: Type.Integer({ minimum: 1 }),
	contextTokens: Type.Integer({ minimum: 1 }),
	parallel: Type.Integer({ minimum: 1 }),
	queue: Type.Integer({ minimum: 0 }),
	defaultMaxTokens: Type.Integer({ minimum: 1 }),
});
export type ChildInit = Static<typeof ChildInit>;

const ChildReady = Type.Object({ port: Type.Integer({ minimum: 1 }), contextTokens: Type.Integer({ minimum: 1 }) });
export type ChildReady = Static<typeof ChildReady>;

export const parseChildInit = (message: unknown): ChildInit => Value.Parse(ChildInit, message);
export const parseChildReady = (message: unknown): ChildReady => Value.Parse(ChildReady, message);
