import { type Conversation, openThought, type TextPart, textPart, type UserPart } from "../../completions/index.ts";
import { invalidField } from "../../schema/index.ts";
import type { LongStrings } from "../../wire/index.ts";
import type { Message, MessageBlock } from "./schema.ts";

type Path = readonly (string | number)[];
type BlockOf<Type extends MessageBlock["type"]> = Extract<MessageBlock, { type: Type }>;
type Shown = BlockOf<"text" | "image" | "document" | "search_result">;
type CacheMark = BlockOf<"text">["cache_control"];

/**
 * Adds the messages to the conversation.
 * @throws ApiError 400 for blocks that cannot be sent to the model
 */
export function addMessages(conversation: Conversation, messages: readonly Message[], long: LongStrings): void {
	for (const [index, { role, content }] of messages.entries()) {
		conversation.from(index);
		const at = ["messages", index, "content"];
		const blocks: readonly MessageBlock[] = typeof content === "string" ? [{ type: "text", text: content }] : content;
		if (role === "assistant") addTurn(conversation, blocks, at, long);
		else if (role === "system") conversation.system("system", textsOf(blocks, at));
		else addUser(conversation, blocks, at);
	}
}

/** Returns text in the chat form: a plain string where it has no attributes. */
export function textsOf(blocks: readonly MessageBlock[], at: Path): string | TextPart[] {
	const texts = blocks.flatMap((block, index) => {
		if (block.type === "tool_addition" || block.type === "tool_removal") return [];
		if (block.type !== "text") throw invalidField([...at, index, "type"], "only text may stand here");
		return [textBlock(block)];
	});
	return plain(texts);
}

function addTurn(conversation: Conversation, blocks: readonly MessageBlock[], at: Path, long: LongStrings): void {
	if (blocks.length === 0) conversation.assistantText("");
	for (const [index, block] of blocks.entries()) {
		switch (block.type) {
			case "text":
				conversation.assistantText(plain([textBlock(block)]));
				break;
			case "thinking":
				conversation.thought({ text: long.partTextOf(block.thinking), ...openThought(long.partTextOf(block.signature ?? "")) });
				break;
			case "redacted_thinking":
				conversation.thought({ text: "", ...openThought(long.partTextOf(block.data)) });
				break;
			case "tool_use":
				conversation.assistantCalled({ id: block.id, name: block.name, arguments: long.partJsonOf(block.input ?? {}) });
				break;
			case "compaction":
				if (block.content) conversation.assistantText(long.partTextOf(block.content));
				break;
			case "image":
			case "document":
			case "search_result":
			case "tool_result":
				throw invalidField([...at, index, "type"], `an assistant's message has no ${block.type} block`);
			default:
				// These blocks are from tools that run at Anthropic.
				break;
		}
	}
}

/** Adds a user message. Tool results come first, since they answer the previous turn. */
function addUser(conversation: Conversation, blocks: readonly MessageBlock[], at: Path): void {
	const parts: UserPart[] = [];
	let hasResult = false;
	for (const [index, block] of blocks.entries()) {
		const place = [...at, index];
		switch (block.type) {
			case "tool_result":
				hasResult = true;
				addResult(conversation, block, place);
				break;
			case "text":
			case "image":
			case "document":
			case "search_result":
				parts.push(...partsOf(block, place));
				break;
			default:
				throw invalidField([...place, "type"], `a user's message has no ${block.type} block`);
		}
	}
	if (parts.length > 0) conversation.user(plain(parts));
	else if (!hasResult) conversation.user("");
}

function addResult(conversation: Conversation, { tool_use_id, content }: BlockOf<"tool_result">, at: Path): void {
	if (content === undefined || content === null || typeof content === "string") {
		conversation.result(tool_use_id, content ?? "");
		return;
	}
	const parts = content.flatMap((block, index) =>
		block.type === "tool_reference" ? [textPart(block.tool_name)] : partsOf(block, [...at, "content", index]),
	);
	const texts = parts.filter((part): part is TextPart => part.type === "text");
	conversation.result(
		tool_use_id,
		plain(texts),
		parts.filter((part) => part.type !== "text"),
	);
}

function partsOf(block: Shown, at: Path): UserPart[] {
	switch (block.type) {
		case "text":
			return [textBlock(block)];
		case "image":
			return [imageBlock(block, at)];
		case "search_result":
			return [textPart(`${block.title}\n${block.source}`), ...block.content.map(textBlock)];
		case "document":
			return documentBlock(block, at);
	}
}

function textBlock({ text, cache_control }: BlockOf<"text">): TextPart {
	return { ...textPart(text), ...cacheMember(cache_control) };
}

function imageBlock({ source, cache_control }: BlockOf<"image">, at: Path): UserPart {
	return { type: "image_url", image_url: { url: addressOf(source, at) }, ...cacheMember(cache_control) };
}

function documentBlock({ source, title, context, cache_control }: BlockOf<"document">, at: Path): UserPart[] {
	const heading = [title, context].filter((line): line is string => typeof line === "string" && line !== "");
	const head = heading.length > 0 ? [textPart(heading.join("\n"))] : [];
	if (source.type === "text") return [...head, { ...textPart(source.data), ...cacheMember(cache_control) }];
	if (source.type === "content") {
		const blocks = typeof source.content === "string" ? [{ type: "text" as const, text: source.content }] : source.content;
		return [...head, ...blocks.flatMap((block, index) => partsOf(block, [...at, "source", "content", index]))];
	}
	const name = title ? { filename: title } : {};
	return [{ type: "file", file: { file_data: addressOf(source, at), ...name }, ...cacheMember(cache_control) }];
}

/** Returns a data URL. Its data may be cut with a mark at its end, so nothing may follow it. */
function addressOf(source: Exclude<BlockOf<"document">["source"], { type: "text" | "content" }>, at: Path): string {
	if (source.type === "url") return source.url;
	if (source.type === "base64") return `data:${source.media_type};base64,${source.data}`;
	throw invalidField([...at, "source"], "no files are kept here; send the content as base64, or its address", "unsupported");
}

function cacheMember(mark: CacheMark): { cache_control?: NonNullable<CacheMark> } {
	return mark ? { cache_control: mark } : {};
}

/** Returns a single text without attributes as a string, since not every server accepts parts everywhere. */
function plain<Part extends UserPart>(parts: Part[]): string | Part[] {
	const [only, ...more] = parts;
	if (only === undefined) return "";
	return more.length === 0 && only.type === "text" && only.cache_control === undefined ? only.text : parts;
}
