import { missing, type ProviderScript, type Scene } from "./script.ts";

/** Amazon Bedrock's "Converse" and "ConverseStream", and the binary events of "vnd.amazon.eventstream". */
export const bedrock: ProviderScript = {
	provider: "bedrock",
	settings: { options: { region: "eu-central-1", accessKeyId: "AKIASCRIPTED", secretAccessKey: "secret-of-the-scripted-key" } },
	model: "anthropic.claude-3-7-sonnet-20250219-v1:0",
	path: (stream) => `/model/anthropic.claude-3-7-sonnet-20250219-v1%3A0/${stream ? "converse-stream" : "converse"}`,
	streamType: "application/vnd.amazon.eventstream",
	tells: { cached: true, written: true, thoughts: false },
	stream(scene) {
		const events = [event("messageStart", { role: "assistant" })];
		let contentBlockIndex = 0;
		const block = (deltas: readonly object[], start?: object) => {
			if (start) events.push(event("contentBlockStart", { contentBlockIndex, start }));
			for (const delta of deltas) events.push(event("contentBlockDelta", { contentBlockIndex, delta }));
			events.push(event("contentBlockStop", { contentBlockIndex }));
			contentBlockIndex++;
		};
		if (scene.thoughts.length > 0)
			block([...scene.thoughts.map((text) => ({ reasoningContent: { text } })), { reasoningContent: { signature: "c2lnbmVk" } }]);
		if (scene.text.length > 0) block(scene.text.map((text) => ({ text })));
		for (const { id, name, pieces } of scene.calls)
			block(
				pieces.map((input) => ({ toolUse: { input } })),
				{ toolUse: { toolUseId: id, name } },
			);
		events.push(event("messageStop", { stopReason: REASONS[scene.end] }));
		events.push(event("metadata", { usage: usageOf(scene), metrics: { latencyMs: 10 } }));
		return Buffer.concat(events);
	},
	whole(scene) {
		const content: object[] = [];
		if (scene.thoughts.length > 0)
			content.push({ reasoningContent: { reasoningText: { text: scene.thoughts.join(""), signature: "c2lnbmVk" } } });
		if (scene.text.length > 0) content.push({ text: scene.text.join("") });
		for (const { id, name, pieces } of scene.calls)
			content.push({ toolUse: { toolUseId: id, name, input: JSON.parse(pieces.join("")) } });
		return {
			output: { message: { role: "assistant", content } },
			stopReason: REASONS[scene.end],
			usage: usageOf(scene),
			metrics: { latencyMs: 10 },
		};
	},
	complaints({ headers, body }) {
		const signature =
			/^AWS4-HMAC-SHA256 Credential=AKIASCRIPTED\/\d{8}\/eu-central-1\/bedrock\/aws4_request, SignedHeaders=\S+, Signature=[0-9a-f]{64}$/;
		const complaints = missing(headers.get("x-amz-date"), "x-amz-date");
		if (!signature.test(headers.get("authorization") ?? "")) complaints.push("the request is not signed");
		if (!Array.isArray(body.messages) || body.messages.length === 0) complaints.push("messages is empty");
		const { inferenceConfig, additionalModelRequestFields } = body as {
			inferenceConfig?: { maxTokens?: number };
			additionalModelRequestFields?: { thinking?: { budget_tokens?: number } };
		};
		const budget = additionalModelRequestFields?.thinking?.budget_tokens;
		if (budget !== undefined && budget >= (inferenceConfig?.maxTokens ?? 0))
			complaints.push("budget_tokens is not below maxTokens");
		return complaints;
	},
	errors: {
		busy: { status: 429, headers: { "x-amzn-errortype": "ThrottlingException" }, body: { message: "Too many requests" } },
		account: {
			status: 403,
			headers: { "x-amzn-errortype": "UnrecognizedClientException" },
			body: { message: "The security token included in the request is invalid." },
		},
		request: {
			status: 400,
			headers: { "x-amzn-errortype": "ValidationException" },
			body: { message: "A conversation must start with a user message." },
		},
		missing: {
			status: 404,
			headers: { "x-amzn-errortype": "ResourceNotFoundException" },
			body: { message: "Could not resolve the foundation model" },
		},
		broken: { status: 500, headers: { "x-amzn-errortype": "InternalServerException" }, body: { message: "Internal failure" } },
	},
	get streamError() {
		return frame({ ":message-type": "exception", ":exception-type": "throttlingException" }, { message: "Too many tokens" });
	},
};

const REASONS: Readonly<Record<Scene["end"], string>> = {
	stop: "end_turn",
	length: "max_tokens",
	tool_calls: "tool_use",
	refused: "guardrail_intervened",
};

function usageOf({ usage: { input, cached, written, output } }: Scene) {
	return {
		inputTokens: input - cached - written,
		outputTokens: output,
		totalTokens: input + output,
		cacheReadInputTokens: cached,
		cacheWriteInputTokens: written,
	};
}

function event(name: string, payload: object): Buffer {
	return frame({ ":event-type": name, ":content-type": "application/json", ":message-type": "event" }, payload);
}

/** A message of the event stream: lengths, their CRC, headers of type string, payload, CRC of all. */
function frame(headers: Readonly<Record<string, string>>, payload: object): Buffer {
	const head = Buffer.concat(
		Object.entries(headers).map(([name, value]) => {
			const [key, text] = [Buffer.from(name), Buffer.from(value)];
			const sizes = Buffer.from([7, text.length >> 8, text.length & 0xff]);
			return Buffer.concat([Buffer.from([key.length]), key, sizes, text]);
		}),
	);
	const body = Buffer.from(JSON.stringify(payload));
	const prelude = Buffer.alloc(12);
	prelude.writeUInt32BE(12 + head.length + body.length + 4, 0);
	prelude.writeUInt32BE(head.length, 4);
	prelude.writeUInt32BE(Bun.hash.crc32(prelude.subarray(0, 8)), 8);
	const message = Buffer.concat([prelude, head, body]);
	const crc = Buffer.alloc(4);
	crc.writeUInt32BE(Bun.hash.crc32(message), 0);
	return Buffer.concat([message, crc]);
}
