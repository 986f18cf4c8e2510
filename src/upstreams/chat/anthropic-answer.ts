import { isRecord } from "../../schema/is-record.ts";
import {
	callOf,
	chunkOf,
	countOf,
	deltaOf,
	type Fields,
	type NativeConverter,
	type NativeForm,
	recordsOf,
	textOf,
	usageObject,
} from "./native-form.ts";

const EVENTS: ReadonlySet<unknown> = new Set([
	"message_start",
	"content_block_start",
	"content_block_delta",
	"content_block_stop",
	"message_delta",
	"message_stop",
	"ping",
]);

/** Anthropic's messages, whole or as events (Anthropic API reference, "Messages", "Streaming messages"). */
export const ANTHROPIC_FORM: NativeForm = {
	matches: ({ type, content }) => (type === "message" && Array.isArray(content)) || EVENTS.has(type),
	createConverter: () => new AnthropicConverter(),
};

/** A call whose arguments are still being sent. */
interface OpenCall {
	readonly index: number;
	hasArguments: boolean;
}

class AnthropicConverter implements NativeConverter {
	#callCount = 0;
	#usage: Fields = {};
	readonly #openCalls = new Map<unknown, OpenCall>();

	chunk(body: Fields): Fields | null {
		switch (body.type) {
			case "message":
				return this.#message(body);
			case "message_start":
				return this.#message(isRecord(body.message) ? body.message : {});
			case "content_block_start":
				return chunkOrNothing(this.#startOfBlock(body));
			case "content_block_delta":
				return chunkOrNothing(this.#pieceOfBlock(body));
			case "content_block_stop":
				return chunkOrNothing(this.#endOfBlock(body));
			case "message_delta":
				return this.#endOfMessage(body);
			default:
				return null;
		}
	}

	#message({ id, model, content, stop_reason: reason, usage }: Fields): Fields {
		const blocks = recordsOf(content);
		const calls = blocks.filter(({ type }) => type === "tool_use");
		const delta = deltaOf(
			blocks.map(({ text }) => textOf(text)).join(""),
			blocks.map(({ thinking }) => textOf(thinking)).join(""),
			calls.map(({ id: callId, name, input }) => callOf(this.#callCount++, callId, name, input)),
		);
		return { id, model, ...chunkOf(delta, reason), ...this.#usageMember(usage) };
	}

	#startOfBlock({ index, content_block: block }: Fields): Fields | null {
		const { type, id, name, input, text, thinking } = isRecord(block) ? block : {};
		if (type !== "tool_use") return pieceOf(text, thinking);
		const hasArguments = isRecord(input) && Object.keys(input).length > 0;
		const call = { index: this.#callCount++, hasArguments };
		this.#openCalls.set(index, call);
		return { tool_calls: [callOf(call.index, id, name, hasArguments ? input : "")] };
	}

	#pieceOfBlock({ index, delta }: Fields): Fields | null {
		const { text, thinking, partial_json: written } = isRecord(delta) ? delta : {};
		if (typeof written !== "string") return pieceOf(text, thinking);
		const call = this.#openCalls.get(index);
		if (call === undefined || written === "") return null;
		call.hasArguments = true;
		return { tool_calls: [callOf(call.index, undefined, undefined, written)] };
	}

	/** Returns the arguments of a call that was sent without any; else null. */
	#endOfBlock({ index }: Fields): Fields | null {
		const call = this.#openCalls.get(index);
		this.#openCalls.delete(index);
		return call === undefined || call.hasArguments ? null : { tool_calls: [callOf(call.index, undefined, undefined, {})] };
	}

	#endOfMessage({ delta, usage }: Fields): Fields {
		const { stop_reason: reason } = isRecord(delta) ? delta : {};
		return { ...chunkOf({}, reason), ...this.#usageMember(usage) };
	}

	/** Returns the usage so far: later events have only the counts that have changed. */
	#usageMember(usage: unknown): Fields {
		if (!isRecord(usage)) return {};
		this.#usage = { ...this.#usage, ...usage };
		const { input_tokens: input, output_tokens: output } = this.#usage;
		const cached = countOf(this.#usage.cache_read_input_tokens);
		const cacheWrite = countOf(this.#usage.cache_creation_input_tokens);
		// Anthropic counts cached tokens beside `input_tokens`.
		const prompt = countOf(input) + cached + cacheWrite;
		return { usage: usageObject({ prompt, completion: countOf(output), cached, cacheWrite }) };
	}
}

function pieceOf(text: unknown, thinking: unknown): Fields | null {
	if (textOf(text) !== "") return { content: text };
	return textOf(thinking) === "" ? null : { reasoning_content: thinking };
}

function chunkOrNothing(delta: Fields | null): Fields | null {
	return delta === null ? null : chunkOf(delta, null);
}
