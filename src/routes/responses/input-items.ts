import { type Conversation, openThought, type TextPart, type Thought, textPart, type UserPart } from "../../completions/index.ts";
import { invalidField } from "../../schema/index.ts";
import type { LongStrings } from "../../wire/index.ts";
import type { ResponseItem, ResponsePart } from "./schema.ts";

type Path = readonly (string | number)[];
type MessageItem = Extract<ResponseItem, { role: string }>;

/** Adds the items of `input` to the conversation. Throws 400 for what would need a memory of ours. */
export function addItems(conversation: Conversation, input: readonly ResponseItem[], long: LongStrings): void {
	for (const [index, item] of input.entries()) {
		conversation.from(index);
		addItem(conversation, item, ["input", index], long);
	}
}

function addItem(conversation: Conversation, item: ResponseItem, at: Path, long: LongStrings): void {
	if (item.type === undefined || item.type === "message") addMessage(conversation, item, at);
	else if (item.type === "reasoning") conversation.thought(thoughtOf(item, long));
	else if (item.type === "function_call") conversation.called({ id: item.call_id, name: item.name, arguments: item.arguments });
	else if (item.type === "function_call_output") addOutput(conversation, item, at, long);
	else if (item.type === "item_reference")
		throw invalidField(
			at,
			"nothing is kept between requests, so an item cannot be named by its id; send the item itself (clients do with store: false)",
			"unsupported",
		);
}

function addMessage(conversation: Conversation, { role, content }: MessageItem, at: Path): void {
	const parts = typeof content === "string" ? content : content.map((part, index) => partOf(part, [...at, "content", index]));
	if (role === "user") {
		conversation.user(parts.length === 0 ? "" : parts);
		return;
	}
	const texts = typeof parts === "string" ? parts : textsOnly(parts, at);
	if (role === "assistant") conversation.said(texts);
	else conversation.system(role, texts);
}

function textsOnly(parts: readonly UserPart[], at: Path): string | TextPart[] {
	const texts = parts.map((part, index) => {
		if (part.type !== "text") throw invalidField([...at, "content", index, "type"], "messages of this role have text only");
		return part;
	});
	return texts.length === 0 ? "" : texts;
}

function partOf(part: ResponsePart, at: Path): UserPart {
	switch (part.type) {
		case "input_text":
		case "output_text":
		case "text":
			return textPart(part.text);
		case "refusal":
			return textPart(part.refusal);
		case "input_image":
		case "image_url": {
			const { image_url: image, file_id: fileId } = part;
			if (image === undefined || image === null) throw needsBytes(at, "image_url", fileId);
			const url = typeof image === "string" ? image : image.url;
			const detail = typeof image === "string" ? part.detail : image.detail;
			return { type: "image_url", image_url: { url, ...(detail === undefined ? {} : { detail }) } };
		}
		case "input_file": {
			const source = part.file_data ?? part.file_url;
			if (source === undefined || source === null) throw needsBytes(at, "file_data", part.file_id);
			return { type: "file", file: { file_data: source, ...(part.filename ? { filename: part.filename } : {}) } };
		}
		case "input_audio":
			return { type: "input_audio", input_audio: part.input_audio };
	}
}

function needsBytes(at: Path, field: string, fileId: unknown) {
	return typeof fileId === "string"
		? invalidField([...at, "file_id"], `no files are kept here; send the content in ${field}`, "unsupported")
		: invalidField([...at, field], "is required", "required");
}

function thoughtOf(item: Extract<ResponseItem, { type: "reasoning" }>, long: LongStrings): Thought {
	const pieces = item.summary?.length ? item.summary : (item.content ?? []);
	const text = pieces.map((piece) => long.partTextOf(typeof piece === "string" ? piece : piece.text)).join("\n\n");
	return { text, ...openThought(long.partTextOf(item.encrypted_content ?? "")) };
}

/** Text as it is; content parts as text, and their media in a message behind; any other value as JSON. */
function addOutput(
	conversation: Conversation,
	{ call_id, output }: Extract<ResponseItem, { type: "function_call_output" }>,
	at: Path,
	long: LongStrings,
): void {
	if (isParts(output)) {
		const parts = output.map((part, index) => partOf(part, [...at, "output", index]));
		const texts = parts.filter((part): part is TextPart => part.type === "text");
		const media = parts.filter((part) => part.type !== "text");
		conversation.result(call_id, texts, media);
	} else conversation.result(call_id, typeof output === "string" ? output : long.partJsonOf(output ?? null));
}

/** True for content parts; other arrays are values like any. */
function isParts(output: unknown): output is ResponsePart[] {
	return Array.isArray(output) && output.length > 0 && output.every(isPart);
}

function isPart(value: unknown): value is ResponsePart {
	if (typeof value !== "object" || value === null || !("type" in value)) return false;
	if (value.type === "input_text" || value.type === "output_text") return "text" in value && typeof value.text === "string";
	if (value.type === "input_image") return "image_url" in value && typeof value.image_url === "string";
	return value.type === "input_file" && isFile(value);
}

const FILE_FIELDS = ["file_data", "file_url", "file_id", "filename"] as const;

/** Has a source, and texts only where texts belong. */
function isFile(part: object): boolean {
	const fields = Object.entries(part).filter(([name]) => FILE_FIELDS.some((field) => field === name));
	return fields.some(([name]) => name !== "filename") && fields.every(([, value]) => value === null || typeof value === "string");
}
