import Type, { type TString } from "typebox";
import type { DeclaredAnswer } from "./endpoint.ts";

const file = () => Type.String({ format: "binary" });

/** Declares bytes as an answer's media types, for the API document. */
export const filesOf = (types: readonly string[]): Readonly<Record<string, TString>> =>
	Object.fromEntries(types.map((type) => [type, file()]));

/** Declares an answer that is a file of the first type or of one of the others. */
export const binaryAnswer = (description: string, type: string, ...others: readonly string[]): DeclaredAnswer => ({
	type,
	schema: file(),
	description,
	others: filesOf(others),
});
