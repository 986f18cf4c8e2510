/** A gateway before a scripted upstream, and the shapes of its answers: what the tests of this folder share. */
import { type GatewayOptions, type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { type ReceivedRequest, type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";

export interface ChatGateway {
	readonly gate: RunningGateway;
	readonly upstream: ScriptedUpstream;
	/** What the upstream received last. */
	lastSent(): ReceivedRequest;
	stop(): Promise<void>;
}

/** Sections of the configuration, and further model entries served by the scripted upstream. */
export interface ChatGatewayOptions extends Omit<GatewayOptions, "config"> {
	readonly config?: Readonly<Record<string, unknown>>;
	readonly models?: Readonly<Record<string, object>>;
	/** What differs in the entry of the scripted upstream. */
	readonly upstream?: object;
}

/** The model of most tests: free, nothing known of its abilities. */
export const MODEL = "plain-model";
/** 1 USD in, 4 USD out per million tokens. */
export const PRICED_MODEL = "priced-model";

export const HELLO = { model: MODEL, messages: [{ role: "user", content: "hello" }] };

/** A text model that the scripted upstream serves. */
export function modelEntry(part: object = {}): object {
	return { type: "text", upstreams: [{ upstream: "scripted", model: "scripted", weight: 1, order: 0 }], ...part };
}

/** The failure guard is off: a table of bad requests would trip it. */
export async function startChatGateway(options: ChatGatewayOptions = {}): Promise<ChatGateway> {
	const upstream = startScriptedUpstream();
	const { models, config = {}, upstream: part, ...rest } = options;
	const entries = {
		[MODEL]: modelEntry({ price: { input: 0, output: 0 } }),
		[PRICED_MODEL]: modelEntry({ price: { input: 1, output: 4 }, contextTokens: 8192, maxCompletionTokens: 1024 }),
		...models,
	};
	const given = config.models as { readonly entries?: object } | undefined;
	const gate = await startGateway({
		...rest,
		config: {
			limits: { failedRequests: 0 },
			...config,
			upstreams: { scripted: upstreamEntry(upstream.url, part) },
			models: { ...given, entries },
		},
	});
	return {
		gate,
		upstream,
		lastSent: () => {
			const last = upstream.requests.at(-1);
			if (last === undefined) throw new Error("nothing reached the upstream");
			return last;
		},
		async stop() {
			await gate.stop();
			await upstream.stop();
		},
	};
}

export interface ErrorAnswer {
	readonly error: { readonly message: string; readonly type: string; readonly param: string | null; readonly code: string };
	readonly code: string;
	readonly details?: Readonly<Record<string, unknown>>;
	readonly issues?: readonly { readonly path: readonly (string | number)[]; readonly code: string; readonly message: string }[];
}

/** The body of an error of an OpenAI route. */
export async function errorOf(answer: Response | Promise<Response>): Promise<ErrorAnswer> {
	return (await (await answer).json()) as ErrorAnswer;
}

/** Status and machine code, the way tables of tests compare them. */
export async function verdict(answer: Response | Promise<Response>): Promise<string> {
	const response = await answer;
	if (response.ok) {
		await response.body?.cancel();
		return String(response.status);
	}
	const { code } = (await response.json()) as ErrorAnswer;
	return `${response.status} ${code}`;
}

/** Status, and of a refusal the field that it names. */
export async function namedField(answer: Response | Promise<Response>): Promise<string> {
	const response = await answer;
	if (response.ok) {
		await response.body?.cancel();
		return String(response.status);
	}
	const { error } = await errorOf(response);
	return `${response.status} ${error.param}`;
}

export interface Message {
	readonly role: string;
	readonly content: string | null;
	readonly reasoning_content?: string | null;
}

export interface ChatAnswer {
	readonly id: string;
	readonly object: string;
	readonly model: string;
	readonly choices: readonly { readonly index: number; readonly message: Message; readonly finish_reason: string }[];
	readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number; readonly total_tokens: number };
	readonly cost: { readonly usd: number; readonly diem: number };
	readonly service_parameters: Readonly<Record<string, unknown>>;
}

export async function chatAnswer(answer: Response | Promise<Response>): Promise<ChatAnswer> {
	return (await (await answer).json()) as ChatAnswer;
}

export interface Chunk {
	readonly id: string;
	readonly model: string;
	readonly choices: readonly {
		readonly index: number;
		readonly delta: Partial<Message>;
		readonly finish_reason: string | null;
	}[];
	readonly usage?: ChatAnswer["usage"] | null;
	readonly service_parameters?: Readonly<Record<string, unknown>>;
}

export interface StreamAnswer {
	readonly chunks: readonly Chunk[];
	readonly done: boolean;
	readonly text: string;
}

/** The data chunks of a stream; `done` where it ended with `[DONE]`. */
export async function streamAnswer(answer: Response | Promise<Response>): Promise<StreamAnswer> {
	const text = await (await answer).text();
	const payloads = text
		.split("\n")
		.filter((line) => line.startsWith("data: "))
		.map((line) => line.slice(6));
	const chunks = payloads.filter((payload) => payload !== "[DONE]").map((payload) => JSON.parse(payload) as Chunk);
	return { chunks, done: payloads.at(-1) === "[DONE]", text };
}

/** What the first choice of a stream said. */
export function saidIn(stream: StreamAnswer): string {
	return stream.chunks.map((chunk) => chunk.choices[0]?.delta.content ?? "").join("");
}
