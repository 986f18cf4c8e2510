import type { TSchema } from "typebox";

/** Keyword of a schema with a name of its own in the API document. */
export const NAME_KEYWORD = "x-name";

/** Gives an answer, or a part of several answers, the name that generated clients call its type by. */
export const named = <Schema extends TSchema>(name: string, schema: Schema): Schema =>
	Object.assign(schema, { [NAME_KEYWORD]: name });
