/** Shapes of chat answers as tests read them, and the entry of a priced model. */

export interface ChatCompletion {
	readonly id: string;
	readonly object: string;
	readonly model: string;
	readonly choices: readonly {
		readonly index: number;
		readonly finish_reason: string;
		readonly message: Record<string, unknown>;
	}[];
	readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number; readonly total_tokens: number };
	readonly cost: { readonly usd: number; readonly diem: number };
	readonly service_parameters: Record<string, unknown>;
}

export interface ChatChunk {
	readonly id: string;
	readonly object: string;
	readonly model: string;
	readonly created: number;
	readonly choices: readonly {
		readonly index: number;
		readonly finish_reason: string | null;
		readonly delta: Record<string, unknown>;
	}[];
	readonly usage?: ChatCompletion["usage"] | null;
	readonly cost?: ChatCompletion["cost"];
	readonly error?: { readonly message: string; readonly type: string; readonly param: string | null; readonly code: string };
	readonly service_parameters?: Record<string, unknown>;
}

export interface ErrorBody {
	readonly error: { readonly message: string; readonly type: string; readonly param: string | null; readonly code: string };
	readonly code: string;
}

export const HELLO = [{ role: "user", content: "hello" }];

/** A priced text model: 1 and 4 USD per million tokens, run by `upstreams` in order. */
export function pricedModel(upstreams: readonly string[], part: object = {}): object {
	return {
		type: "text",
		price: { input: 1, output: 4 },
		contextTokens: 8192,
		maxCompletionTokens: 1024,
		upstreams: upstreams.map((upstream, order) => ({ upstream, model: "scripted", weight: 1, order })),
		...part,
	};
}

/** The events of a whole stream, `[DONE]` left out, and whether it was there. */
export function eventsOf(text: string): { chunks: ChatChunk[]; done: boolean } {
	const data = text
		.split("\n\n")
		.filter((event) => event.startsWith("data: "))
		.map((event) => event.slice(6));
	return {
		chunks: data.filter((event) => event !== "[DONE]").map((event) => JSON.parse(event) as ChatChunk),
		done: data.at(-1) === "[DONE]",
	};
}

/** The text that the deltas of a choice make. */
export function deltaText(chunks: readonly ChatChunk[], index = 0): string {
	return chunks
		.flatMap((chunk) => chunk.choices.filter((choice) => choice.index === index))
		.map((choice) => String(choice.delta.content ?? ""))
		.join("");
}

/** Nano-USD of a usage at the price of `pricedModel`. */
export function priceOf(usage: { prompt_tokens: number; completion_tokens: number }): number {
	return usage.prompt_tokens * 1000 + usage.completion_tokens * 4000;
}
