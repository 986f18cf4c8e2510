import Type from "typebox";
import { named } from "../../schema/named-schema.ts";

/** The schema for the API document; request-body.ts reads the bytes, by these rules and more. */
const ItemSchema = Type.Object({
	jsonrpc: Type.Optional(Type.Literal("2.0")),
	id: Type.Optional(Type.Union([Type.String(), Type.Number(), Type.Null()])),
	method: Type.String({ minLength: 1, maxLength: 128 }),
	params: Type.Optional(Type.Union([Type.Array(Type.Unknown()), Type.Object({}), Type.Null()])),
});

export const RpcBodySchema = Type.Union([ItemSchema, Type.Array(ItemSchema, { minItems: 1, maxItems: 100 })]);

const AnswerItemSchema = named(
	"RpcAnswer",
	Type.Object({
		jsonrpc: Type.Literal("2.0"),
		id: Type.Union([Type.String(), Type.Number(), Type.Null()], { description: "The id of the request" }),
		result: Type.Optional(Type.Unknown()),
		error: Type.Optional(
			Type.Unknown({ description: "The node's own error. It has code and message if the node follows JSON-RPC 2.0" }),
		),
	}),
);

export const RpcAnswerSchema = Type.Union([AnswerItemSchema, Type.Array(AnswerItemSchema)]);

export const NetworksSchema = named(
	"RpcNetworks",
	Type.Object({
		networks: Type.Array(Type.String(), { description: "Networks of this service" }),
		online: Type.Array(Type.String(), { description: "Networks with a working upstream" }),
	}),
);
