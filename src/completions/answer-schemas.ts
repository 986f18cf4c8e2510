/** The schemas that the answers of all conversations share, for the API document. */

import Type from "typebox";
import { named } from "../schema/named-schema.ts";

export const orNull = <T extends Type.TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const CostSchema = named(
	"Cost",
	Type.Object({ usd: Type.Number(), diem: Type.Number() }, { description: "The charge of the request in each currency" }),
);

/** An error in a stream that has begun, in the form of OpenAI's clients. */
export const OpenAiErrorEventSchema = named(
	"OpenAiErrorEvent",
	Type.Object({
		error: Type.Object({
			message: Type.String(),
			type: Type.String(),
			param: orNull(Type.String()),
			code: orNull(Type.String()),
		}),
	}),
);
