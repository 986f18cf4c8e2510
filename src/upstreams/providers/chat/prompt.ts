import type {
	LanguageModelV4FilePart,
	LanguageModelV4Message,
	LanguageModelV4Prompt,
	LanguageModelV4TextPart,
	SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { ProviderName } from "../../../config/providers.ts";
import { ApiError } from "../../../errors/index.ts";
import { isRecord } from "../../../schema/is-record.ts";
import { assistantMessage } from "./assistant-message.ts";
import type { ChatCapabilities } from "./chat-capabilities.ts";
import { type Fields, parts, textOf } from "./fields.ts";

export interface PromptOptions {
	readonly provider: ProviderName;
	readonly capabilities: ChatCapabilities;
	/** The messages, which the route has checked. */
	readonly messages: readonly unknown[];
}

/** Returns the messages in the package's form. Throws ApiError for content that no provider supports. */
export function promptOf({ provider, capabilities, messages }: PromptOptions): LanguageModelV4Prompt {
	const prompt: LanguageModelV4Prompt = [];
	const toolNames = new Map<string, string>();
	for (const [index, message] of messages.entries()) {
		if (!isRecord(message)) continue;
		switch (message.role) {
			case "system":
			case "developer":
				prompt.push(...systemMessages(message, capabilities));
				break;
			case "user":
				prompt.push({ role: "user", content: userParts(message.content, capabilities) });
				break;
			case "assistant": {
				const content = assistantMessage({ provider, message, index, toolNames });
				if (content.length > 0) prompt.push({ role: "assistant", content });
				break;
			}
			case "tool":
				addToolResult(prompt, message, toolNames, capabilities);
				break;
		}
	}
	if (capabilities.systemFirst !== true) return prompt;
	const isSystem = ({ role }: LanguageModelV4Message) => role === "system";
	return [...prompt.filter(isSystem), ...prompt.filter((message) => !isSystem(message))];
}

/** Returns one message for each part, so that each keeps its cache hint. */
function systemMessages({ content }: Fields, capabilities: ChatCapabilities): LanguageModelV4Message[] {
	if (typeof content === "string") return [{ role: "system", content }];
	return parts(content).map((part) => ({ role: "system", content: textOf(part), ...hintOf(part, capabilities) }));
}

function userParts(content: unknown, capabilities: ChatCapabilities): (LanguageModelV4TextPart | LanguageModelV4FilePart)[] {
	if (typeof content === "string") return [{ type: "text", text: content }];
	const all = parts(content);
	// Providers refuse empty texts beside other parts. A message with nothing else stays unchanged.
	const nonEmpty = all.filter((part) => part.type !== "text" || part.text !== "");
	return (nonEmpty.length > 0 ? nonEmpty : all.slice(0, 1)).map((part) => ({ ...userPart(part), ...hintOf(part, capabilities) }));
}

function userPart(part: Fields): LanguageModelV4TextPart | LanguageModelV4FilePart {
	switch (part.type) {
		case "image_url":
			return filePart(String(member(part.image_url, "url")), "image");
		case "video_url":
			return filePart(String(member(part.video_url, "url")), "video");
		case "input_audio": {
			const format = String(member(part.input_audio, "format") ?? "wav");
			const data = String(member(part.input_audio, "data"));
			return { type: "file", mediaType: AUDIO_TYPES[format] ?? `audio/${format}`, data: { type: "data", data } };
		}
		case "file": {
			const filename = member(part.file, "filename");
			const file = filePart(String(member(part.file, "file_data")), "application/pdf");
			return typeof filename === "string" ? { ...file, filename } : file;
		}
		default:
			return { type: "text", text: textOf(part) };
	}
}

const AUDIO_TYPES: Readonly<Record<string, string>> = {
	mp3: "audio/mpeg",
	m4a: "audio/mp4",
	pcm16: "audio/pcm",
	pcm24: "audio/pcm",
};

/**
 * Returns a data URL as bytes, and any other URL as an address. `kind` is the media type if the address does not show
 * it.
 */
function filePart(url: string, kind: string): LanguageModelV4FilePart {
	if (!/^data:/i.test(url)) return { type: "file", mediaType: kind, data: { type: "url", url: new URL(url) } };
	const comma = url.indexOf(",");
	const [mediaType = "", ...flags] = url.slice("data:".length, comma).split(";");
	const rest = url.slice(comma + 1);
	const isBase64 = flags.some((flag) => flag.trim().toLowerCase() === "base64");
	const data = isBase64 ? rest : Buffer.from(decodeURIComponent(rest)).toString("base64");
	return { type: "file", mediaType: mediaType.trim().toLowerCase() || kind, data: { type: "data", data } };
}

/**
 * Adds a tool result. Consecutive results are one message, since some providers require one with all results of a turn.
 */
function addToolResult(
	prompt: LanguageModelV4Prompt,
	message: Fields,
	toolNames: ReadonlyMap<string, string>,
	capabilities: ChatCapabilities,
): void {
	const toolCallId = String(message.tool_call_id);
	const toolName = toolNames.get(toolCallId);
	if (toolName === undefined)
		throw new ApiError("INVALID_REQUEST", { message: `No tool call has the id ${toolCallId.slice(0, 100)}`, param: "messages" });
	const { content } = message;
	const contentParts = parts(content);
	const value = typeof content === "string" ? content : contentParts.map(textOf).join("");
	const hint = contentParts
		.map((part) => hintOf(part, capabilities))
		.findLast(({ providerOptions }) => providerOptions !== undefined);
	const result = { type: "tool-result" as const, toolCallId, toolName, output: { type: "text" as const, value }, ...hint };
	const last = prompt.at(-1);
	if (last?.role === "tool") last.content.push(result);
	else prompt.push({ role: "tool", content: [result] });
}

function hintOf(part: Fields, capabilities: ChatCapabilities): { providerOptions?: SharedV4ProviderOptions } {
	if (capabilities.cacheHint === undefined || !isRecord(part.cache_control)) return {};
	const { ttl } = part.cache_control;
	return { providerOptions: capabilities.cacheHint(typeof ttl === "string" ? ttl : undefined) };
}

function member(value: unknown, key: string): unknown {
	return isRecord(value) ? value[key] : undefined;
}
