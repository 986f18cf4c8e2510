/** A gateway for the tests of billing: a model with a price for input and output, and charges made by chatting. */
import { disableAccount } from "../../src/store/admin.ts";
import { type GatewayOptions, type RunningGateway, startGateway, upstreamEntry } from "./running-gateway.ts";
import { startScriptedUpstream } from "./scripted-upstream.ts";

/** Costs 0.15 USD for a million tokens of input, 0.60 of output. */
export const MODEL = "llama-3.2-3b";
export const FREE_MODEL = "free-model";
export const INPUT_SKU = `${MODEL}-llm-input-mtoken`;
export const OUTPUT_SKU = `${MODEL}-llm-output-mtoken`;

export interface UsageEntry {
	readonly timestamp: string;
	readonly sku: string;
	readonly pricePerUnitUsd: number;
	readonly units: number;
	readonly amount: number;
	readonly currency: string;
	readonly notes: string;
	readonly inferenceDetails: {
		readonly requestId: string;
		readonly inferenceExecutionTime: number;
		readonly promptTokens: number;
		readonly completionTokens: number;
	};
}

export interface BillingGateway {
	readonly gate: RunningGateway;
	/** Chats for so many tokens of input and output; returns the X-Request-ID. */
	chat(input: number, output: number, options?: { key?: string; model?: string }): Promise<string>;
	/** GET below /billing with any key. */
	get(path: string, options?: { key?: string; accept?: string }): Promise<Response>;
	/** The JSON of a 200; throws with the body of anything else. */
	read<T = Record<string, unknown>>(path: string, key?: string): Promise<T>;
	/** Disables an account, as the command line does. */
	disable(accountId: string): Promise<void>;
	stop(): Promise<void>;
}

export async function startBillingGateway(
	options: Omit<GatewayOptions, "config"> & { limits?: object } = {},
): Promise<BillingGateway> {
	const upstream = startScriptedUpstream();
	upstream.always(({ body }) => {
		const text = (body.messages as { content: string }[])[0]?.content ?? "";
		const [input = 1, output = 1] = text.split(" ").map(Number);
		return { usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output } };
	});
	const entry = (input: number, output: number) => ({
		type: "text",
		price: { input, output },
		contextTokens: 100_000,
		maxCompletionTokens: 50_000,
		upstreams: [{ upstream: "scripted", model: "scripted", weight: 1, order: 0 }],
	});
	const { limits, ...rest } = options;
	const gate = await startGateway({
		...rest,
		config: {
			upstreams: { scripted: upstreamEntry(upstream.url) },
			models: { entries: { [MODEL]: entry(0.15, 0.6), [FREE_MODEL]: entry(0, 0) } },
			limits: { failedRequests: 0, listRequestsPerMinute: 100_000, ...limits },
		},
	});
	const get: BillingGateway["get"] = (path, { key = gate.key, accept } = {}) =>
		gate.call("GET", `/billing${path}`, undefined, {
			authorization: `Bearer ${key}`,
			...(accept === undefined ? {} : { accept }),
		});
	return {
		gate,
		get,
		async chat(input, output, { key = gate.key, model = MODEL } = {}) {
			const messages = [{ role: "user", content: `${input} ${output}` }];
			const answer = await gate.chat({ model, messages, max_completion_tokens: output }, { key });
			if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
			await answer.arrayBuffer();
			return answer.headers.get("x-request-id") ?? "";
		},
		async read<T>(path: string, key = gate.key) {
			const answer = await get(path, { key });
			const text = await answer.text();
			if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
			return JSON.parse(text) as T;
		},
		async disable(accountId) {
			await disableAccount(gate.admin, accountId);
		},
		async stop() {
			await gate.stop();
			await upstream.stop();
		},
	};
}
