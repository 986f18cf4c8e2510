import Type from "typebox";

/** For the API document: envelope.ts reads the bytes, by these rules and more. */
const ItemSchema = Type.Object({
	jsonrpc: Type.Optional(Type.Literal("2.0")),
	id: Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Null()])),
	method: Type.String({ minLength: 1, maxLength: 128 }),
	params: Type.Optional(Type.Union([Type.Array(Type.Unknown()), Type.Object({}), Type.Null()])),
});

export const RpcBodySchema = Type.Union([ItemSchema, Type.Array(ItemSchema, { minItems: 1, maxItems: 100 })]);

export const NetworksSchema = Type.Object({
	networks: Type.Array(Type.String(), { description: "Networks of this service" }),
	online: Type.Array(Type.String(), { description: "Those with an upstream that works" }),
});
