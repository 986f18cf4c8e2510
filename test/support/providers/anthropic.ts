import { missing, type ProviderScript, type Scene, sse } from "./script.ts";

/** Anthropic's "Messages" and "Streaming Messages". */
export const anthropic: ProviderScript = {
	provider: "anthropic",
	settings: { key: "sk-ant-scripted" },
	model: "claude-3-7-sonnet-20250219",
	path: () => "/messages",
	streamType: "text/event-stream; charset=utf-8",
	tells: { cached: true, written: true, thoughts: false },
	stream(scene) {
		const events: [string, object][] = [
			[
				"message_start",
				{ type: "message_start", message: { ...head(scene), content: [], stop_reason: null, stop_sequence: null } },
			],
			["ping", { type: "ping" }],
		];
		let index = 0;
		const block = (start: object, deltas: readonly object[]) => {
			events.push(["content_block_start", { type: "content_block_start", index, content_block: start }]);
			for (const delta of deltas) events.push(["content_block_delta", { type: "content_block_delta", index, delta }]);
			events.push(["content_block_stop", { type: "content_block_stop", index }]);
			index++;
		};
		if (scene.thoughts.length > 0)
			block({ type: "thinking", thinking: "", signature: "" }, [
				...scene.thoughts.map((thinking) => ({ type: "thinking_delta", thinking })),
				{ type: "signature_delta", signature: SIGNATURE },
			]);
		if (scene.text.length > 0)
			block(
				{ type: "text", text: "" },
				scene.text.map((text) => ({ type: "text_delta", text })),
			);
		for (const { id, name, pieces } of scene.calls)
			block(
				{ type: "tool_use", id, name, input: {} },
				pieces.map((partial_json) => ({ type: "input_json_delta", partial_json })),
			);
		const usage = { output_tokens: scene.usage.output };
		events.push([
			"message_delta",
			{ type: "message_delta", delta: { stop_reason: REASONS[scene.end], stop_sequence: null }, usage },
		]);
		events.push(["message_stop", { type: "message_stop" }]);
		return sse(events);
	},
	whole(scene) {
		const content: object[] = [];
		if (scene.thoughts.length > 0) content.push({ type: "thinking", thinking: scene.thoughts.join(""), signature: SIGNATURE });
		if (scene.text.length > 0) content.push({ type: "text", text: scene.text.join("") });
		for (const { id, name, pieces } of scene.calls)
			content.push({ type: "tool_use", id, name, input: JSON.parse(pieces.join("")) });
		const { usage, ...rest } = head(scene);
		return {
			...rest,
			content,
			stop_reason: REASONS[scene.end],
			stop_sequence: null,
			usage: { ...usage, output_tokens: scene.usage.output },
		};
	},
	complaints({ headers, body }) {
		const complaints = [
			...missing(headers.get("x-api-key"), "x-api-key"),
			...missing(headers.get("anthropic-version"), "anthropic-version"),
			...missing(body.model, "model"),
		];
		if (typeof body.max_tokens !== "number") complaints.push("max_tokens is required");
		const messages = Array.isArray(body.messages) ? body.messages : [];
		if (messages.length === 0) complaints.push("messages is empty");
		if (messages.some(({ role }) => role !== "user" && role !== "assistant")) complaints.push("a role is not user or assistant");
		const { thinking } = body as { thinking?: { type: string; budget_tokens?: number } };
		if (thinking?.type === "enabled") {
			if ((thinking.budget_tokens ?? 0) < 1024) complaints.push("budget_tokens is below 1024");
			if ((thinking.budget_tokens ?? 0) >= Number(body.max_tokens)) complaints.push("budget_tokens is not below max_tokens");
			if (body.temperature !== undefined) complaints.push("temperature is not allowed with thinking");
		}
		return complaints;
	},
	errors: {
		busy: { status: 529, body: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } } },
		account: { status: 401, body: { type: "error", error: { type: "authentication_error", message: "invalid x-api-key" } } },
		request: {
			status: 400,
			body: { type: "error", error: { type: "invalid_request_error", message: "messages.0: all messages must have content" } },
		},
		missing: { status: 404, body: { type: "error", error: { type: "not_found_error", message: "model: claude-none" } } },
		broken: { status: 500, body: { type: "error", error: { type: "api_error", message: "Internal server error" } } },
	},
	streamError: sse([["error", { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }]]),
};

export const SIGNATURE = "EqQBCgIYAhIkc2lnbmVkIHRob3VnaHRz";

const REASONS: Readonly<Record<Scene["end"], string>> = {
	stop: "end_turn",
	length: "max_tokens",
	tool_calls: "tool_use",
	refused: "refusal",
};

function head({ usage }: Scene) {
	return {
		id: "msg_scripted",
		type: "message",
		role: "assistant",
		model: "claude-3-7-sonnet-20250219",
		usage: {
			input_tokens: usage.input - usage.cached - usage.written,
			cache_creation_input_tokens: usage.written,
			cache_read_input_tokens: usage.cached,
			output_tokens: 1,
		},
	};
}
