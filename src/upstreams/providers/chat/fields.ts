import { isRecord } from "../../../schema/is-record.ts";

/** Members of a message. A value of another type than expected counts as absent. */
export type Fields = Readonly<Record<string, unknown>>;

/** Returns the parts of a message's content; none if it is a text. */
export function parts(content: unknown): Fields[] {
	return Array.isArray(content) ? content.filter(isRecord) : [];
}

export function textOf(part: Fields): string {
	return typeof part.text === "string" ? part.text : "";
}
