import type { LanguageModelV4Message, LanguageModelV4ReasoningPart, SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { ProviderName } from "../../../config/providers.ts";
import { ApiError } from "../../../errors/index.ts";
import { isRecord } from "../../../schema/is-record.ts";
import { innerJson } from "../../../wire/index.ts";
import { parts, textOf } from "./fields.ts";
import { type ReasoningDetailContent, reasoningDetailsFor } from "./reasoning-details.ts";

type Content = Extract<LanguageModelV4Message, { role: "assistant" }>["content"];

export interface AssistantMessageOptions {
	readonly provider: ProviderName;
	readonly message: Readonly<Record<string, unknown>>;
	/** Index of the message in the conversation. */
	readonly index: number;
	/** Names of all tools called so far, by call id. This message's calls are added. */
	readonly toolNames: Map<string, string>;
}

/** Returns an assistant's thoughts, text and tool calls, each with the metadata that its provider needs back. */
export function assistantMessage({ provider, message, index, toolNames }: AssistantMessageOptions): Content {
	const details = reasoningDetailsFor(provider, message.reasoning_details);
	const content: Content = thoughts(
		message.reasoning_content,
		details.filter(({ type }) => type === "reasoning"),
	);
	const text = typeof message.content === "string" ? message.content : parts(message.content).map(textOf).join("");
	const ofText = details.find(({ type }) => type === "text");
	if (text !== "" || ofText !== undefined) content.push({ type: "text", text: text, ...optionsOf(ofText) });
	const calls = Array.isArray(message.tool_calls) ? message.tool_calls.filter(isRecord) : [];
	for (const [place, { id, function: called }] of calls.entries()) {
		if (!isRecord(called)) continue;
		const [toolCallId, toolName] = [String(id), String(called.name)];
		toolNames.set(toolCallId, toolName);
		const input = argumentsOf(called.arguments, `messages[${index}].tool_calls[${place}].function.arguments`);
		const ofCall = details.find((detail) => detail.type === "tool_call" && detail.id === toolCallId);
		content.push({ type: "tool-call", toolCallId, toolName, input, ...optionsOf(ofCall) });
	}
	return content;
}

/**
 * Returns the thoughts in their original pieces. Changed thoughts have no valid signature, so they are one text without
 * metadata.
 */
function thoughts(text: unknown, details: readonly ReasoningDetailContent[]): LanguageModelV4ReasoningPart[] {
	const whole = typeof text === "string" ? text : "";
	const length = details.reduce((sum, detail) => sum + detail.length, 0);
	if (length !== whole.length || details.length === 0) return whole === "" ? [] : [{ type: "reasoning", text: whole }];
	let at = 0;
	return details.map((detail) => {
		const piece = whole.slice(at, at + detail.length);
		at += detail.length;
		return { type: "reasoning", text: piece, ...optionsOf(detail) };
	});
}

function optionsOf(detail: ReasoningDetailContent | undefined): { providerOptions?: SharedV4ProviderOptions } {
	return detail === undefined ? {} : { providerOptions: detail.metadata };
}

function argumentsOf(text: unknown, param: string): unknown {
	if (typeof text !== "string" || text.trim() === "") return {};
	try {
		return innerJson(text);
	} catch {
		throw new ApiError("INVALID_REQUEST", { message: `${param}: must be JSON`, param });
	}
}
