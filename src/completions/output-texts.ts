import { isRecord } from "../schema/is-record.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The content of a text in parts: its texts and its thoughts, each joined. */
interface JoinedTexts {
	readonly content?: string;
	readonly reasoning_content?: string;
}

/**
 * Returns members that replace the content of a message or delta, where a server sends it in parts; else none. Some
 * servers send thoughts as parts of type `thinking`.
 */
export function outputTexts({ content, reasoning_content: thought, reasoning }: Fields): JoinedTexts {
	if (!Array.isArray(content)) return {};
	const parts = content as unknown[];
	const thoughts = parts.map(thoughtOf).join("");
	const hasThought = typeof thought === "string" || typeof reasoning === "string";
	return { content: parts.map(textOf).join(""), ...(thoughts === "" || hasThought ? {} : { reasoning_content: thoughts }) };
}

function textOf(part: unknown): string {
	if (typeof part === "string") return part;
	return isRecord(part) && typeof part.text === "string" ? part.text : "";
}

function thoughtOf(part: unknown): string {
	if (!isRecord(part) || part.type !== "thinking") return "";
	const { thinking } = part;
	return Array.isArray(thinking) ? (thinking as unknown[]).map(textOf).join("") : typeof thinking === "string" ? thinking : "";
}
