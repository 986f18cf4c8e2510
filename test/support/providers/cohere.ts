import { missing, type ProviderScript, type Scene, sse } from "./script.ts";

/** Cohere's "Chat API (v2)" and "Chat with Streaming". */
export const cohere: ProviderScript = {
	provider: "cohere",
	settings: { key: "cohere-scripted" },
	model: "command-a-reasoning-08-2025",
	path: () => "/chat",
	streamType: "text/event-stream",
	tells: { cached: false, written: false, thoughts: false },
	stream(scene) {
		const events: object[] = [
			{
				type: "message-start",
				id: "scripted",
				delta: { message: { role: "assistant", content: [], tool_plan: "", tool_calls: [], citations: [] } },
			},
		];
		let index = 0;
		const block = (start: object, deltas: readonly object[]) => {
			events.push({ type: "content-start", index, delta: { message: { content: start } } });
			for (const content of deltas) events.push({ type: "content-delta", index, delta: { message: { content } } });
			events.push({ type: "content-end", index });
			index++;
		};
		if (scene.thoughts.length > 0)
			block(
				{ type: "thinking", thinking: "" },
				scene.thoughts.map((thinking) => ({ thinking })),
			);
		if (scene.text.length > 0)
			block(
				{ type: "text", text: "" },
				scene.text.map((text) => ({ text })),
			);
		for (const [place, { id, name, pieces }] of scene.calls.entries()) {
			const tool_calls = { id, type: "function", function: { name, arguments: "" } };
			events.push({ type: "tool-call-start", index: place, delta: { message: { tool_calls } } });
			for (const piece of pieces)
				events.push({
					type: "tool-call-delta",
					index: place,
					delta: { message: { tool_calls: { function: { arguments: piece } } } },
				});
			events.push({ type: "tool-call-end", index: place });
		}
		events.push({ type: "message-end", delta: { finish_reason: REASONS[scene.end], usage: usageOf(scene) } });
		return sse(events.map((event) => ["type" in event ? String(event.type) : null, event]));
	},
	whole(scene) {
		const content: object[] = [];
		if (scene.thoughts.length > 0) content.push({ type: "thinking", thinking: scene.thoughts.join("") });
		if (scene.text.length > 0) content.push({ type: "text", text: scene.text.join("") });
		const tool_calls = scene.calls.map(({ id, name, pieces }) => ({
			id,
			type: "function",
			function: { name, arguments: pieces.join("") },
		}));
		return {
			id: "scripted",
			message: { role: "assistant", content, ...(tool_calls.length > 0 ? { tool_calls } : {}) },
			finish_reason: REASONS[scene.end],
			usage: usageOf(scene),
		};
	},
	complaints({ headers, body }) {
		const complaints = missing(headers.get("authorization")?.match(/^Bearer ./)?.[0], "authorization");
		if (!Array.isArray(body.messages) || body.messages.length === 0) complaints.push("messages is empty");
		return complaints;
	},
	errors: {
		busy: { status: 429, body: { message: "You are using a Trial key, which is limited to 20 API calls / minute." } },
		account: { status: 401, body: { message: "invalid api token" } },
		request: { status: 400, body: { message: "invalid request: messages must not be empty" } },
		missing: { status: 404, body: { message: "model 'none' not found" } },
		broken: { status: 500, body: { message: "internal server error" } },
	},
	streamError: null,
};

const REASONS: Readonly<Record<Scene["end"], string>> = {
	stop: "COMPLETE",
	length: "MAX_TOKENS",
	tool_calls: "TOOL_CALL",
	refused: "ERROR_TOXIC",
};

function usageOf({ usage: { input, output } }: Scene) {
	const tokens = { input_tokens: input, output_tokens: output };
	return { billed_units: tokens, tokens };
}
