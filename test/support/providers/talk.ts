/** Chat with a played provider over the road of all upstreams, for tests that stand in the route's place. */
import type { TextCapabilities } from "../../../src/catalog/types.ts";
import type { UpstreamConfig } from "../../../src/config/index.ts";
import type { TokenUsage } from "../../../src/journal/records.ts";
import { silentLog } from "../../../src/telemetry/log.ts";
import { type ChatTimeouts, createChatUpstreams, type RunningChatUpstreams } from "../../../src/upstreams/index.ts";
import type { PublicFetch } from "../../../src/upstreams/public-fetch/port.ts";
import { chatForward, type ForwardOptions, textModel } from "../chat-forward.ts";
import type { ProviderScript } from "./script.ts";
import { type PlayedProvider, playedProvider, upstreamOf } from "./upstream.ts";

const FAR_MS = 600_000;
const TIMEOUTS = { chatFirstByteMs: FAR_MS, chatIdleMs: FAR_MS, chatUnaryMs: FAR_MS, chatStreamTriesMs: FAR_MS };

export const LOOKUP = {
	type: "function",
	function: { name: "lookup", parameters: { type: "object", properties: { q: { type: "string" } }, required: ["q"] } },
};

/** What was heard, whole or streamed, in one form. */
export interface Heard {
	readonly content: string | null;
	readonly thoughts: string;
	readonly calls: readonly { readonly id: string; readonly name: string; readonly arguments: string }[];
	readonly details: readonly object[];
	readonly finish: string | null;
	readonly usage: TokenUsage | null;
	readonly annotations: readonly object[];
}

export interface Talk {
	readonly played: PlayedProvider;
	readonly upstreams: RunningChatUpstreams;
	/** Throws the ApiError that the caller would get. */
	hear(body?: object, options?: ForwardOptions & { readonly capabilities?: Partial<TextCapabilities> }): Promise<Heard>;
	/** The body of the last request. */
	readonly lastBody: Record<string, unknown>;
}

export interface TalkOptions {
	readonly fetchPublic?: PublicFetch;
	/** Of the upstream's entry. */
	readonly config?: Partial<UpstreamConfig>;
	readonly timeouts?: Partial<ChatTimeouts>;
}

export function talkTo(script: ProviderScript, { fetchPublic, config, timeouts }: TalkOptions = {}): Talk {
	const played = playedProvider();
	const upstreams = createChatUpstreams({
		upstreams: { main: upstreamOf(script, config) },
		timeouts: { ...TIMEOUTS, ...timeouts },
		log: silentLog,
		fetch: played.fetch,
		...(fetchPublic ? { fetchPublic: () => fetchPublic } : {}),
	});
	return {
		played,
		upstreams,
		get lastBody() {
			return played.requests.at(-1)?.body ?? {};
		},
		async hear(body = {}, { capabilities = { supportsReasoning: true }, ...options } = {}) {
			const whole = { model: "test-model", messages: [{ role: "user", content: "hello" }], ...body };
			const call = chatForward(whole, { model: textModel([{ model: script.model }], capabilities), ...options });
			return call.stream ? heardStream(upstreams, call) : heardWhole(upstreams, call);
		},
	};
}

type Call = ReturnType<typeof chatForward>;

async function heardWhole(upstreams: RunningChatUpstreams, call: Call): Promise<Heard> {
	const { body, usage } = await upstreams.whole(call);
	const [choice] = body.choices as { message: WholeMessage; finish_reason: string }[];
	if (choice === undefined) throw new Error("no choice");
	const { message } = choice;
	return {
		content: message.content,
		thoughts: message.reasoning_content ?? "",
		calls: message.tool_calls.map(({ id, function: { name, arguments: text } }) => ({ id, name, arguments: text })),
		details: message.reasoning_details ?? [],
		annotations: message.annotations ?? [],
		finish: choice.finish_reason,
		usage,
	};
}

interface WholeMessage {
	readonly content: string | null;
	readonly reasoning_content: string | null;
	readonly tool_calls: readonly {
		readonly id: string;
		readonly function: { readonly name: string; readonly arguments: string };
	}[];
	readonly reasoning_details?: readonly object[];
	readonly annotations?: readonly object[];
}

interface Delta {
	readonly role?: string;
	readonly content?: string;
	readonly reasoning_content?: string;
	readonly tool_calls?: readonly {
		readonly index: number;
		readonly id?: string;
		readonly function: { readonly name?: string; readonly arguments: string };
	}[];
	readonly reasoning_details?: readonly object[];
	readonly annotations?: readonly object[];
}

/** As a client of OpenAI's puts a stream together; throws where a client would. */
async function heardStream(upstreams: RunningChatUpstreams, call: Call): Promise<Heard> {
	const stream = upstreams.stream(call);
	let [content, thoughts] = ["", ""];
	const calls: { id: string; name: string; arguments: string }[] = [];
	const details: object[] = [];
	const annotations: object[] = [];
	let finish: string | null = null;
	let first = true;
	await stream.each(({ events }) => {
		for (const { body } of events) {
			const [choice] = body.choices as { delta: Delta; finish_reason: string | null }[];
			if (choice === undefined) continue;
			const { delta } = choice;
			if (first && delta.role !== "assistant") throw new Error("the first chunk has no role");
			if (finish !== null) throw new Error("a choice after its end");
			first = false;
			content += delta.content ?? "";
			thoughts += delta.reasoning_content ?? "";
			details.push(...(delta.reasoning_details ?? []));
			annotations.push(...(delta.annotations ?? []));
			for (const { index, id, function: called } of delta.tool_calls ?? []) {
				if (id !== undefined) calls[index] = { id, name: called.name ?? "", arguments: "" };
				const open = calls[index];
				if (open === undefined) throw new Error("a piece of a call that was not begun");
				open.arguments += called.arguments;
			}
			finish = choice.finish_reason;
		}
		return null;
	});
	return { content, thoughts, calls, details, annotations, finish, usage: stream.usage };
}
