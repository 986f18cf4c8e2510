import type { LanguageModelV4GenerateResult } from "@ai-sdk/provider";
import type { ProviderName } from "../../../config/providers.ts";
import { type Annotation, annotationOf, finishReasonOf, hasProviderMetadata, usageBody } from "./answer-end.ts";
import { type ReasoningDetail, reasoningDetail } from "./reasoning-details.ts";

export interface AnswerHead {
	readonly id: string;
	/** Unix seconds. */
	readonly created: number;
	readonly model: string;
}

/**
 * Returns a whole answer as the chat completion of an OpenAI-compatible upstream. Throws UpstreamFailure if the answer
 * is no completion.
 */
export function completionOf(head: AnswerHead, provider: ProviderName, result: LanguageModelV4GenerateResult): object {
	let [text, thoughts] = ["", ""];
	const calls: object[] = [];
	const details: ReasoningDetail[] = [];
	const annotations: Annotation[] = [];
	for (const part of result.content) {
		switch (part.type) {
			case "text":
				text += part.text;
				for (const { source, ...places } of part.citations ?? [])
					annotations.push(...[annotationOf(source, places) ?? []].flat());
				if (hasProviderMetadata(part.providerMetadata))
					details.push(
						reasoningDetail("text", provider, details.length, { length: part.text.length, metadata: part.providerMetadata }),
					);
				break;
			case "reasoning":
				thoughts += part.text;
				if (hasProviderMetadata(part.providerMetadata))
					details.push(
						reasoningDetail("reasoning", provider, details.length, { length: part.text.length, metadata: part.providerMetadata }),
					);
				break;
			case "tool-call":
				if (part.providerExecuted) break;
				calls.push({ id: part.toolCallId, type: "function", function: { name: part.toolName, arguments: part.input } });
				if (hasProviderMetadata(part.providerMetadata))
					details.push(
						reasoningDetail(
							"tool_call",
							provider,
							details.length,
							{ length: 0, metadata: part.providerMetadata },
							part.toolCallId,
						),
					);
				break;
			case "source":
				annotations.push(...[annotationOf(part) ?? []].flat());
		}
	}
	text = result.structuredOutputText || text;
	const contents = { anything: text !== "" || thoughts !== "" || calls.length > 0, toolCalls: calls.length > 0 };
	return {
		...{ id: head.id, object: "chat.completion", created: head.created, model: head.model },
		choices: [
			{
				index: 0,
				finish_reason: finishReasonOf(result.finishReason, contents),
				stop_reason: null,
				logprobs: null,
				message: {
					role: "assistant",
					content: text === "" && calls.length > 0 ? null : text,
					reasoning_content: thoughts === "" ? null : thoughts,
					tool_calls: calls,
					...(details.length > 0 ? { reasoning_details: details } : {}),
					...(annotations.length > 0 ? { annotations } : {}),
				},
			},
		],
		...usageMember(result),
		prompt_logprobs: null,
	};
}

function usageMember({ usage }: LanguageModelV4GenerateResult) {
	const body = usageBody(usage);
	return body === null ? {} : { usage: body };
}
