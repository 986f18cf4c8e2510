import { isRecord } from "../../../schema/is-record.ts";

/** Members of messages, as they are read here: what is no object or no text counts as absent. */
export type Fields = Readonly<Record<string, unknown>>;

/** The parts of a message's content; none where it is a text. */
export function parts(content: unknown): Fields[] {
	return Array.isArray(content) ? content.filter(isRecord) : [];
}

export function textOf(part: Fields): string {
	return typeof part.text === "string" ? part.text : "";
}
