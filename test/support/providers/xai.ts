import { missing, type ProviderScript, type Scene, sse } from "./script.ts";

/** xAI's "Responses API", and "Streaming". */
export const xai: ProviderScript = {
	provider: "xai",
	settings: { key: "xai-scripted" },
	model: "grok-4",
	path: () => "/responses",
	streamType: "text/event-stream",
	tells: { cached: true, written: false, thoughts: true },
	stream(scene) {
		const events: object[] = [
			{ type: "response.created", response: { ...responseOf(scene, []), status: "in_progress", usage: null } },
		];
		const items = itemsOf(scene);
		for (const [output_index, item] of items.entries()) {
			const place = { item_id: item.id, output_index };
			const started = {
				...item,
				...(item.type === "function_call" ? { arguments: "" } : {}),
				...(item.type === "message" ? { content: [] } : {}),
				...(item.type === "reasoning" ? { summary: [] } : {}),
			};
			events.push({ type: "response.output_item.added", output_index, item: { ...started, status: "in_progress" } });
			if (item.type === "reasoning") {
				events.push({
					type: "response.reasoning_summary_part.added",
					...place,
					summary_index: 0,
					part: { type: "summary_text", text: "" },
				});
				for (const delta of scene.thoughts)
					events.push({ type: "response.reasoning_summary_text.delta", ...place, summary_index: 0, delta });
				events.push({ type: "response.reasoning_summary_text.done", ...place, summary_index: 0, text: scene.thoughts.join("") });
			}
			if (item.type === "message") {
				events.push({
					type: "response.content_part.added",
					...place,
					content_index: 0,
					part: { type: "output_text", text: "", annotations: [] },
				});
				for (const delta of scene.text) events.push({ type: "response.output_text.delta", ...place, content_index: 0, delta });
				events.push({ type: "response.output_text.done", ...place, content_index: 0, text: scene.text.join("") });
			}
			if (item.type === "function_call") {
				const { pieces } = scene.calls.find(({ id }) => id === item.call_id) ?? { pieces: [] };
				for (const delta of pieces) events.push({ type: "response.function_call_arguments.delta", ...place, delta });
				events.push({ type: "response.function_call_arguments.done", ...place, arguments: pieces.join("") });
			}
			events.push({ type: "response.output_item.done", output_index, item });
		}
		const type = scene.end === "length" ? "response.incomplete" : "response.completed";
		events.push({ type, response: responseOf(scene, items) });
		return sse(
			events.map((event, sequence_number) => ["type" in event ? String(event.type) : null, { ...event, sequence_number }]),
		);
	},
	whole: (scene) => responseOf(scene, itemsOf(scene)),
	complaints({ headers, body }) {
		const complaints = missing(headers.get("authorization")?.match(/^Bearer ./)?.[0], "authorization");
		if (!Array.isArray(body.input) || body.input.length === 0) complaints.push("input is empty");
		if (body.store !== false) complaints.push("what is said is kept there");
		return complaints;
	},
	errors: {
		busy: { status: 429, headers: { "retry-after": "17" }, body: { code: "resource-exhausted", error: "Too many requests" } },
		account: { status: 400, body: { code: "invalid-argument", error: "Incorrect API key provided: xa***ed." } },
		request: {
			status: 422,
			body: { code: "invalid-argument", error: "Failed to deserialize the JSON body: missing field `input`" },
		},
		missing: {
			status: 404,
			body: { code: "not-found", error: "The model none does not exist or your team does not have access to it." },
		},
		broken: { status: 500, body: { code: "internal", error: "Internal error" } },
	},
	streamError: sse([
		["error", { type: "error", code: "server_error", message: "Internal error", param: null, sequence_number: 0 }],
	]),
};

type Item = { id: string; type: "reasoning" | "message" | "function_call"; call_id?: string } & Record<string, unknown>;

function itemsOf(scene: Scene): Item[] {
	const items: Item[] = [];
	if (scene.thoughts.length > 0)
		items.push({
			id: "rs_scripted",
			type: "reasoning",
			summary: [{ type: "summary_text", text: scene.thoughts.join("") }],
			encrypted_content: "ZW5jcnlwdGVk",
			status: "completed",
		});
	if (scene.text.length > 0)
		items.push({
			id: "msg_scripted",
			type: "message",
			role: "assistant",
			content: [{ type: "output_text", text: scene.text.join(""), annotations: [], logprobs: [] }],
			status: "completed",
		});
	for (const { id, name, pieces } of scene.calls)
		items.push({ id: `fc_${id}`, type: "function_call", call_id: id, name, arguments: pieces.join(""), status: "completed" });
	return items;
}

function responseOf(scene: Scene, output: readonly Item[]) {
	const { input, cached, output: out, thoughts } = scene.usage;
	return {
		id: "resp_scripted",
		object: "response",
		created_at: 1_767_225_600,
		model: "grok-4",
		output,
		status: scene.end === "length" ? "incomplete" : "completed",
		incomplete_details: scene.end === "length" ? { reason: "max_output_tokens" } : null,
		usage: {
			input_tokens: input,
			input_tokens_details: { cached_tokens: cached },
			output_tokens: out,
			output_tokens_details: { reasoning_tokens: thoughts },
			total_tokens: input + out,
		},
	};
}
