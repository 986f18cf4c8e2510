import type { LanguageModelV4StreamPart, LanguageModelV4Usage, SharedV4ProviderMetadata } from "@ai-sdk/provider";
import type { ProviderName } from "../../../config/providers.ts";
import { type Annotation, annotationOf, finishReasonOf, hasProviderMetadata, usageBody } from "./answer-end.ts";
import type { AnswerHead } from "./completion.ts";
import { reasoningDetail } from "./reasoning-details.ts";

interface OpenCall {
	readonly index: number;
	/** True once a piece of its arguments was sent. */
	hasArguments: boolean;
}

/** A block of text or thoughts under way. */
interface OpenBlock {
	length: number;
	metadata: SharedV4ProviderMetadata | undefined;
}

type FinishPart = Extract<LanguageModelV4StreamPart, { type: "finish" }>;
type CallPart = Extract<LanguageModelV4StreamPart, { type: "tool-call" }>;

/**
 * Converts the parts of a package's stream to the events of an OpenAI-compatible one. They are a role, pieces of
 * thoughts, text and calls, the end, usage and `[DONE]`. No event is written before there is content, so a failure
 * until then precedes the first event.
 */
export class ChunkWriter {
	readonly #head: string;
	readonly #provider: ProviderName;
	readonly #calls = new Map<string, OpenCall>();
	readonly #blocks = new Map<string, OpenBlock>();
	readonly #annotations: Annotation[] = [];
	#details = 0;
	#started = false;
	#done = false;

	constructor({ id, created, model }: AnswerHead, provider: ProviderName) {
		const head = JSON.stringify({ id, object: "chat.completion.chunk", created, model });
		this.#head = `data: ${head.slice(0, -1)},"choices":[`;
		this.#provider = provider;
	}

	/** True once `[DONE]` was written. */
	get done(): boolean {
		return this.#done;
	}

	/** Returns the events of a part as text, which may be empty. Throws what `finishReasonOf` throws. */
	take(part: LanguageModelV4StreamPart): string {
		switch (part.type) {
			case "text-start":
			case "reasoning-start":
				this.#blocks.set(`${part.type.slice(0, 1)}${part.id}`, { length: 0, metadata: part.providerMetadata });
				return "";
			case "text-delta":
			case "reasoning-delta":
				return this.#piece(part);
			case "text-end":
				for (const { source, ...places } of part.citations ?? []) this.#annotate(annotationOf(source, places));
				return this.#ended("text", part);
			case "reasoning-end":
				return this.#ended("reasoning", part);
			case "tool-input-start":
				return part.providerExecuted ? "" : this.#callStart(part.id, part.toolName, "");
			case "tool-input-delta":
				return this.#callPiece(part.id, part.delta);
			case "tool-call":
				return part.providerExecuted ? "" : this.#call(part);
			case "source":
				this.#annotate(annotationOf(part));
				return "";
			case "finish":
				return this.#finish(part);
			default:
				return "";
		}
	}

	#piece(part: Extract<LanguageModelV4StreamPart, { type: "text-delta" | "reasoning-delta" }>): string {
		const isText = part.type === "text-delta";
		const block = this.#blocks.get(`${part.type.slice(0, 1)}${part.id}`);
		if (block) {
			block.length += part.delta.length;
			block.metadata = part.providerMetadata ?? block.metadata;
		}
		return part.delta === "" ? "" : this.#delta(isText ? { content: part.delta } : { reasoning_content: part.delta });
	}

	/** Ends a block, and returns the metadata that the provider needs back. */
	#ended(
		type: "text" | "reasoning",
		{ id, providerMetadata }: { id: string; providerMetadata?: SharedV4ProviderMetadata },
	): string {
		const key = `${type.slice(0, 1)}${id}`;
		const block = this.#blocks.get(key);
		this.#blocks.delete(key);
		return this.#detail(type, block?.length ?? 0, providerMetadata ?? block?.metadata);
	}

	#detail(type: "text" | "reasoning" | "tool_call", length: number, metadata: SharedV4ProviderMetadata | undefined, id?: string) {
		if (!hasProviderMetadata(metadata)) return "";
		return this.#delta({ reasoning_details: [reasoningDetail(type, this.#provider, this.#details++, { length, metadata }, id)] });
	}

	#callStart(id: string, name: string, input: string): string {
		const index = this.#calls.size;
		this.#calls.set(id, { index, hasArguments: input !== "" });
		return this.#delta({ tool_calls: [{ index, id, type: "function", function: { name, arguments: input } }] });
	}

	#callPiece(id: string, delta: string): string {
		const call = this.#calls.get(id);
		if (call === undefined || delta === "") return "";
		call.hasArguments = true;
		return this.#delta({ tool_calls: [{ index: call.index, function: { arguments: delta } }] });
	}

	/** Returns the whole call, unless its pieces were sent already. */
	#call({ toolCallId, toolName, input, providerMetadata }: CallPart): string {
		const call = this.#calls.get(toolCallId);
		let opening = "";
		if (call === undefined) opening = this.#callStart(toolCallId, toolName, input);
		else if (!call.hasArguments) opening = this.#callPiece(toolCallId, input);
		return opening + this.#detail("tool_call", 0, providerMetadata, toolCallId);
	}

	#annotate(annotation: Annotation | undefined): void {
		const isNew = annotation !== undefined && !this.#annotations.some((other) => Bun.deepEquals(other, annotation));
		if (isNew) this.#annotations.push(annotation);
	}

	#finish({ finishReason, usage }: FinishPart): string {
		const calls = this.#calls.size > 0;
		const reason = finishReasonOf(finishReason, { anything: this.#started, toolCalls: calls });
		const last = this.#annotations.length > 0 ? this.#delta({ annotations: this.#annotations }) : "";
		this.#done = true;
		return `${last}${this.#delta({}, reason)}${this.#usage(usage)}data: [DONE]\n\n`;
	}

	#usage(usage: LanguageModelV4Usage): string {
		const body = usageBody(usage);
		return body === null ? "" : `${this.#head}],"usage":${JSON.stringify(body)}}\n\n`;
	}

	#delta(delta: object, finishReason: string | null = null): string {
		const first = this.#started ? "" : this.#event({ role: "assistant", content: "" }, null);
		this.#started = true;
		return first + this.#event(delta, finishReason);
	}

	#event(delta: object, finishReason: string | null): string {
		const end = finishReason === null ? "null" : JSON.stringify(finishReason);
		return `${this.#head}{"index":0,"delta":${JSON.stringify(delta)},"logprobs":null,"finish_reason":${end}}]}\n\n`;
	}
}
