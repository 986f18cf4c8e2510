import type { TSchema } from "typebox";

/** Schema keyword for its name in the API document. */
export const NAME_KEYWORD = "x-name";

/** Names the schema of an answer, or of a part of several answers: generated clients name its type so. */
export const named = <Schema extends TSchema>(name: string, schema: Schema): Schema =>
	Object.assign(schema, { [NAME_KEYWORD]: name });
