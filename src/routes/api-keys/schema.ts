import Type, { type Static } from "typebox";
import { DescriptionSchema, KEY_FIELDS, KeyTypeSchema } from "../../access/index.ts";

export const CreateKeySchema = Type.Object(
	{ apiKeyType: KeyTypeSchema, description: DescriptionSchema, ...KEY_FIELDS },
	{ additionalProperties: false },
);
export type CreateKey = Static<typeof CreateKeySchema>;

export const UpdateKeySchema = Type.Object(
	{ id: Type.String(), description: Type.Optional(Type.Union([DescriptionSchema, Type.Null()])), ...KEY_FIELDS },
	{ additionalProperties: false },
);
export type UpdateKey = Static<typeof UpdateKeySchema>;

export const ListKeysQuerySchema = Type.Object({
	page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, description: "From 1. Without page and limit: all keys" })),
	limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: "Keys on a page, default 500" })),
});
export type ListKeysQuery = Static<typeof ListKeysQuerySchema>;

export const RevokeKeyQuerySchema = Type.Object({ id: Type.String({ minLength: 1 }) });
