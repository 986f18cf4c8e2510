import { invalidField } from "../../schema/index.ts";
import type { LongStrings } from "../../wire/index.ts";
import { type Conversation, type TextPart, type Thought, textPart, type UserPart } from "../conversation.ts";
import { openThought } from "../sealed-thought.ts";
import { type ClientTools, functionName } from "./client-tools.ts";
import { HOSTED_CALLS, type HostedCall } from "./hosted-calls.ts";
import type { ResponseItem, ResponsePart, ResponseTool } from "./schema.ts";

type Path = readonly (string | number)[];
type MessageItem = Extract<ResponseItem, { content: unknown }>;
type ReasoningItem = Extract<ResponseItem, { encrypted_content?: unknown }>;
type FunctionCallItem = Extract<ResponseItem, { type: "function_call" }>;
type CustomCallItem = Extract<ResponseItem, { type: "custom_tool_call" }>;
type CallItem = ResponseItem & { readonly type: string };
type OutputItem = ResponseItem & { readonly output: unknown };

interface ItemTargets {
	readonly conversation: Conversation;
	readonly tools: ClientTools;
	readonly long: LongStrings;
}

/** Adds the items of `input` to a conversation, and their tools to those of the request. */
export class InputItems {
	/** Positions and types of the items that are not sent to the model. */
	readonly ignored: string[] = [];
	readonly #targets: ItemTargets;

	constructor(targets: ItemTargets) {
		this.#targets = targets;
	}

	/**
	 * Adds the items.
	 * @throws ApiError 400 for items that need stored responses
	 */
	add(input: readonly ResponseItem[]): void {
		for (const [index, item] of input.entries()) {
			this.#targets.conversation.from(index);
			this.#add(item, index);
		}
	}

	#add(item: ResponseItem, index: number): void {
		const { conversation, tools, long } = this.#targets;
		const path = ["input", index];
		if (item.type === undefined || item.type === "message") addMessage(conversation, item as MessageItem, path);
		else if (item.type === "reasoning") conversation.thought(thoughtOf(item as ReasoningItem, long));
		else if (item.type === "item_reference") throw noReference(path);
		else if (item.type === "additional_tools" && "tools" in item) tools.add(item.tools, `input[${index}].tools`);
		else if (item.type === "tool_search_output" && "tools" in item) this.#addFoundTools(item, index);
		else if (isCall(item)) conversation.assistantCalled(calledBy(item, long));
		else if (isOutput(item)) addOutput(conversation, { call_id: callIdOf(item), output: item.output }, path, long);
		else if (item.type !== "web_search_call") this.#addUnknown(item, index);
	}

	#addFoundTools(item: ResponseItem & { readonly tools: readonly ResponseTool[] }, index: number): void {
		const { conversation, tools, long } = this.#targets;
		tools.add(item.tools, `input[${index}].tools`);
		const callId = callIdOf(item);
		if (callId !== "") conversation.result(callId, long.partJsonOf({ tools: item.tools.flatMap(toolNames) }));
	}

	/** Adds the text of an item of unknown type, if it has content as messages have it. */
	#addUnknown(item: ResponseItem, index: number): void {
		const content = textIn(item, this.#targets.long);
		if (content === "") this.ignored.push(`input[${index}] (${item.type})`);
		else this.#targets.conversation.user(content);
	}
}

function noReference(path: Path) {
	return invalidField(
		path,
		"nothing is kept between requests, so an item cannot be named by its id; send the item itself (clients do with store: false)",
		"unsupported",
	);
}

function isCall(item: ResponseItem): item is CallItem {
	return item.type === "function_call" || item.type === "custom_tool_call" || hostedCallIn(item) !== null;
}

const OUTPUT = "_call_output";

/** Returns true for the output of a call. Outputs of ignored call types are ignored too. */
function isOutput(item: ResponseItem): item is OutputItem {
	if (item.type?.endsWith(OUTPUT) !== true || callIdOf(item) === "" || !("output" in item)) return false;
	const tool = item.type.slice(0, -OUTPUT.length);
	return tool === "function" || tool === "custom_tool" || Object.hasOwn(HOSTED_CALLS, tool);
}

/** Returns the hosted tool that the item calls. A provider's own search has no id, and is not the caller's. */
function hostedCallIn(item: ResponseItem): HostedCall | null {
	const tool = item.type?.endsWith("_call") === true ? item.type.slice(0, -"_call".length) : "";
	return Object.hasOwn(HOSTED_CALLS, tool) && callIdOf(item) !== "" ? (tool as HostedCall) : null;
}

function callIdOf(item: ResponseItem): string {
	const { call_id, id } = item as { call_id?: string | null; id?: string | null };
	return call_id || id || "";
}

/** Returns the call as the model made it: the text for a free-form tool is in `input`. */
function calledBy(item: CallItem, long: LongStrings): { id: string; name: string; arguments: string } {
	const id = callIdOf(item);
	if (item.type === "function_call") {
		const { name, namespace, arguments: written } = item as FunctionCallItem;
		return { id, name: functionName(name, namespace), arguments: written };
	}
	if (item.type === "custom_tool_call") {
		const { name, namespace, input } = item as CustomCallItem;
		return { id, name: functionName(name, namespace), arguments: long.partJsonOf({ input }) };
	}
	const tool = item.type.slice(0, -"_call".length) as HostedCall;
	const value = (item as Readonly<Record<string, unknown>>)[HOSTED_CALLS[tool].member];
	return { id, name: tool, arguments: long.partJsonOf(value ?? {}) };
}

/** Returns the names by which the model calls the tool, or the tools of a namespace. */
function toolNames(tool: ResponseTool): string[] {
	if (tool.type === "namespace" && "tools" in tool)
		return tool.tools.flatMap((inner) => toolNames(inner).map((name) => functionName(name, tool.name)));
	return "name" in tool && typeof tool.name === "string" ? [tool.name] : [];
}

function textIn(item: ResponseItem, long: LongStrings): string {
	const { content } = item as { content?: unknown };
	if (typeof content === "string") return content;
	if (!Array.isArray(content)) return "";
	const texts = (content as unknown[]).flatMap((part) =>
		typeof part === "object" && part !== null && "text" in part && typeof part.text === "string"
			? [long.partTextOf(part.text)]
			: [],
	);
	return texts.join("\n");
}

function addMessage(conversation: Conversation, { role, content }: MessageItem, path: Path): void {
	const parts = typeof content === "string" ? content : content.map((part, index) => partOf(part, [...path, "content", index]));
	if (role === "user") {
		conversation.user(parts.length === 0 ? "" : parts);
		return;
	}
	const texts = typeof parts === "string" ? parts : textsOnly(parts, path);
	if (role === "assistant") conversation.assistantText(texts);
	else conversation.system(role, texts);
}

function textsOnly(parts: readonly UserPart[], path: Path): string | TextPart[] {
	const texts = parts.map((part, index) => {
		if (part.type !== "text") throw invalidField([...path, "content", index, "type"], "messages of this role have text only");
		return part;
	});
	return texts.length === 0 ? "" : texts;
}

function partOf(part: ResponsePart, path: Path): UserPart {
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
			if (image === undefined || image === null) throw needsBytes(path, "image_url", fileId);
			const url = typeof image === "string" ? image : image.url;
			const detail = typeof image === "string" ? part.detail : image.detail;
			return { type: "image_url", image_url: { url, ...(detail === undefined ? {} : { detail }) } };
		}
		case "input_file": {
			const source = part.file_data ?? part.file_url;
			if (source === undefined || source === null) throw needsBytes(path, "file_data", part.file_id);
			return { type: "file", file: { file_data: source, ...(part.filename ? { filename: part.filename } : {}) } };
		}
		case "input_audio":
			return { type: "input_audio", input_audio: part.input_audio };
	}
}

function needsBytes(path: Path, field: string, fileId: unknown) {
	return typeof fileId === "string"
		? invalidField([...path, "file_id"], `no files are kept here; send the content in ${field}`, "unsupported")
		: invalidField([...path, field], "is required", "required");
}

function thoughtOf(item: ReasoningItem, long: LongStrings): Thought {
	const pieces = item.summary?.length ? item.summary : (item.content ?? []);
	const text = pieces.map((piece) => long.partTextOf(typeof piece === "string" ? piece : piece.text)).join("\n\n");
	return { text, ...openThought(long.partTextOf(item.encrypted_content ?? "")) };
}

/**
 * Adds the output of a call: text unchanged; content parts as text, with their media in a message after it; any other
 * value as JSON.
 */
function addOutput(
	conversation: Conversation,
	{ call_id, output }: { readonly call_id: string; readonly output: unknown },
	path: Path,
	long: LongStrings,
): void {
	if (isParts(output)) {
		const parts = output.map((part, index) => partOf(part, [...path, "output", index]));
		const texts = parts.filter((part): part is TextPart => part.type === "text");
		const media = parts.filter((part) => part.type !== "text");
		conversation.result(call_id, texts, media);
	} else conversation.result(call_id, typeof output === "string" ? output : long.partJsonOf(output ?? null));
}

/** Returns true for content parts; other arrays are plain values. */
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

/** Returns true for a file part with a source, and texts only where texts belong. */
function isFile(part: object): boolean {
	const fields = Object.entries(part).filter(([name]) => FILE_FIELDS.some((field) => field === name));
	return fields.some(([name]) => name !== "filename") && fields.every(([, value]) => value === null || typeof value === "string");
}
