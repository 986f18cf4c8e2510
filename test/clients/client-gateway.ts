/**
 * A gateway for real clients: models that each make the scripted upstream behave in one way, and a table of
 * every error that a client can meet. A model's name decides what happens, so that a client in another process
 * needs no hand from the test.
 */
import { disableAccount } from "../../src/store/admin.ts";
import { TOOL_SPEECH } from "../support/chat-answers.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { startScriptedEmbeddings } from "../support/scripted-embeddings.ts";
import {
	type Behaviour,
	type ReceivedRequest,
	type ScriptedUpstream,
	startScriptedUpstream,
} from "../support/scripted-upstream.ts";
import { until } from "../support/until.ts";

/** An id as open model servers have them: discovered, not configured. */
export const SLASHED = "org/some-model:8b-q4";

/** Model -> what the upstream does. */
const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
	talk: {},
	priced: {},
	tools: { speech: TOOL_SPEECH },
	thinks: { speech: { content: ["4"], reasoning: ["2 plus ", "2"] } },
	inline: { speech: { content: ["<thi", "nk>2 plus ", "2</think>", "4"] } },
	likely: { speech: { content: ["He", "llo"], logprobs: true } },
	choices: { speech: { content: ["Hello", "!"], choices: 2 } },
	schema: { speech: { content: ['{"city":', '"Zürich"}'] } },
	limited: {},
	overflow: {
		status: 400,
		raw: JSON.stringify({
			error: {
				message: "This model's maximum context length is 10 tokens",
				type: "invalid_request_error",
				code: "context_length_exceeded",
			},
		}),
	},
	busy: { status: 429, headers: { "retry-after": "7" } },
	broken: { status: 500 },
	gone: { status: 404 },
	slow: { hang: true },
	waits: { hang: true },
	"error-in-stream": {
		errorEventAt: 3,
		errorEvent: { error: { message: "the card of account 12 was declined", type: "server_error", code: 500 } },
	},
	"cut-in-stream": { dieAfterChunks: 3 },
};

/** Models that say one thing first and another once the conversation has this role: a loop comes to its end. */
const LATER: Readonly<Record<string, { readonly role: string; readonly first: Behaviour; readonly next: Behaviour }>> = {
	loop: { role: "tool", first: { speech: TOOL_SPEECH }, next: {} },
	mends: {
		role: "assistant",
		first: { speech: { content: ["The city is Zürich."] } },
		next: { speech: { content: ['{"city":', '"Zürich"}'] } },
	},
};

function behaviourOf({ body }: ReceivedRequest): Behaviour {
	const model = String(body.model);
	const later = LATER[model];
	if (later === undefined) return BEHAVIOURS[model] ?? {};
	const messages = body.messages as readonly { readonly role: string }[];
	return messages.some(({ role }) => role === later.role) ? later.next : later.first;
}

/** One error, how to provoke it, and what must reach the user. */
export interface Fault {
	readonly name: string;
	readonly status: number;
	readonly code: string;
	/** Part of the text. */
	readonly text: string;
	readonly baseUrl: string;
	readonly key: string;
	readonly model: string;
	readonly temperature?: number;
	readonly headers?: Readonly<Record<string, string>>;
	/** In place of a short text: a user message of so many bytes. */
	readonly promptBytes?: number;
	readonly imageUrl?: string;
}

/** What a client told its user of an error. */
export interface Seen {
	readonly status: number | undefined;
	readonly code: string | null | undefined;
	readonly message: string;
	readonly requestId: string | null | undefined;
}

export interface ClientGateway {
	readonly gate: RunningGateway;
	readonly upstream: ScriptedUpstream;
	/** With /api/v1: what a client is given for its base URL. */
	readonly baseUrl: string;
	readonly key: string;
	readonly faults: readonly Fault[];
	/** The refusal of a gateway that carries all that it can. */
	readonly crowded: Fault;
	stop(): Promise<void>;
}

const target = (upstream: string, model: string) => [{ upstream, model, weight: 1, order: 0 }];
const DAY = 86_400_000;
const iso = (ms: number) => new Date(ms).toISOString();

function entries(): Record<string, object> {
	const made: Record<string, object> = {};
	for (const name of [...Object.keys(BEHAVIOURS), ...Object.keys(LATER)])
		made[name] = { type: "text", price: { input: 0, output: 0 }, upstreams: target(name === "slow" ? "slow" : "scripted", name) };
	made.priced = { ...made.priced, price: { input: 1, output: 4 }, contextTokens: 8192, maxCompletionTokens: 1024 };
	made.inline = { ...made.inline, thinkBlocks: "inline" };
	made.mends = { ...made.mends, responseFormat: "repair" };
	made.limited = { ...made.limited, tier: "one" };
	const removesAt = iso(Date.now() - DAY);
	made.retired = { ...made.talk, deprecation: { autoRemap: false, date: iso(Date.now() - 2 * DAY), removesAt } };
	made.unplugged = { type: "text", price: { input: 0, output: 0 }, offline: true };
	return made;
}

export async function startClientGateway(): Promise<ClientGateway> {
	const upstream = startScriptedUpstream();
	upstream.models([SLASHED]);
	upstream.always(behaviourOf);
	// Faults are asked for one after the other: none may take the upstream out.
	const vectors = startScriptedEmbeddings();
	const patient = { health: { failures: 1_000, probeEveryMs: 60_000 } };
	const limits = { failedRequests: 0, tiers: { one: { requestsPerMinute: 1, tokensPerMinute: 1_000_000 } } };
	const gate = await startGateway({
		config: {
			limits,
			upstreams: {
				scripted: upstreamEntry(upstream.url, patient),
				vectors: upstreamEntry(vectors.url, patient),
				slow: upstreamEntry(upstream.url, { ...patient, discover: false, unaryMs: 200, firstByteMs: 200 }),
			},
			models: { entries: { ...entries(), vectors: { type: "embedding", upstreams: target("vectors", "vectors") } } },
		},
	});
	// A gateway that can carry one request, and carries it.
	const crowded = await startGateway({
		config: {
			server: { maxRunning: 1 },
			limits,
			upstreams: { scripted: upstreamEntry(upstream.url, patient), slow: upstreamEntry(upstream.url, patient) },
			models: { entries: entries() },
		},
	});
	const leave = new AbortController();
	const waiting = crowded.chat({ model: "waits", messages: [{ role: "user", content: "x" }] }, { signal: leave.signal });
	waiting.catch(() => {});
	// Once the upstream has it, no later request is anybody else's.
	const hasArrived = () => upstream.requests.some(({ body }) => body.model === "waits");
	await until(() => crowded.listening.running === 1 && hasArrived(), "the request that fills the gateway");
	return {
		gate,
		upstream,
		baseUrl: `${gate.url}/api/v1`,
		key: gate.key,
		faults: await faultsOf(gate),
		crowded: {
			name: "a full gateway",
			status: 503,
			code: "SERVICE_UNAVAILABLE",
			text: "Too many requests",
			baseUrl: `${crowded.url}/api/v1`,
			key: crowded.key,
			model: "talk",
		},
		async stop() {
			leave.abort();
			await Promise.all([gate.stop(), crowded.stop()]);
			vectors.stop();
			await upstream.stop();
		},
	};
}

const OVERSIZE = 72 * 1_048_576 + 1;

/** The header of a PNG of 8,000 by 8,000 pixels. */
function hugeImage(): string {
	const bytes = Buffer.alloc(64);
	Buffer.from("89504e470d0a1a0a0000000d49484452", "hex").copy(bytes);
	bytes.writeUInt32BE(8_000, 16);
	bytes.writeUInt32BE(8_000, 20);
	return `data:image/png;base64,${bytes.toString("base64")}`;
}

async function faultsOf(gate: RunningGateway): Promise<Fault[]> {
	const [poor, capped, disabled, restricted, limited] = await Promise.all([
		gate.newKey({ creditUsd: "0" }),
		gate.newKey({ creditUsd: "5", key: { limits: { usd: "0" } } }),
		gate.newKey(),
		gate.newKey({ key: { restrictions: { models: ["talk"], endpoints: null, networks: null, addresses: null } } }),
		gate.newKey(),
	]);
	await disableAccount(gate.admin, disabled.accountId);
	const spent = await gate.chat({ model: "limited", messages: [{ role: "user", content: "x" }] }, { key: limited.secret });
	if (!spent.ok) throw new Error(`the one request of the minute was refused: ${await spent.text()}`);
	const base = { baseUrl: `${gate.url}/api/v1`, key: gate.key, model: "talk" };
	return [
		{
			...base,
			name: "a field out of range",
			status: 400,
			code: "INVALID_REQUEST",
			text: "temperature: must be <= 2",
			temperature: 2.5,
		},
		{
			...base,
			name: "context overflow",
			status: 400,
			code: "context_length_exceeded",
			text: "maximum context length",
			model: "overflow",
		},
		{
			...base,
			name: "a wrong key",
			status: 401,
			code: "AUTHENTICATION_FAILED",
			text: "Authentication failed",
			key: "sk_inf_wrong",
		},
		{
			...base,
			name: "no money",
			status: 402,
			code: "INSUFFICIENT_BALANCE",
			text: "add credit",
			key: poor.secret,
			model: "priced",
		},
		{
			...base,
			name: "the key's own limit",
			status: 402,
			code: "API_KEY_USD_SPEND_LIMIT_EXCEEDED",
			text: "limit of this key",
			key: capped.secret,
			model: "priced",
		},
		{ ...base, name: "a disabled account", status: 403, code: "API_ACCESS_DISABLED", text: "disabled", key: disabled.secret },
		{
			...base,
			name: "a restricted key",
			status: 403,
			code: "UNAUTHORIZED",
			text: "restricted to the models talk",
			key: restricted.secret,
			model: "tools",
		},
		{ ...base, name: "an unknown model", status: 404, code: "MODEL_NOT_FOUND", text: 'Unknown model "nobody"', model: "nobody" },
		{
			...base,
			name: "a wrong method",
			status: 405,
			code: "METHOD_NOT_ALLOWED",
			text: "does not take POST",
			baseUrl: `${base.baseUrl}/models`,
		},
		{ ...base, name: "a retired model", status: 410, code: "MODEL_REMOVED", text: "was retired on", model: "retired" },
		{
			...base,
			name: "a body over the limit",
			status: 413,
			code: "PAYLOAD_TOO_LARGE",
			text: "limit of 75497472 bytes",
			promptBytes: OVERSIZE,
		},
		{
			...base,
			name: "another content type",
			status: 415,
			code: "INVALID_CONTENT_TYPE",
			text: "send application/json",
			headers: { "Content-Type": "text/plain" },
		},
		{ ...base, name: "an image too large", status: 422, code: "IMAGE_TOO_LARGE", text: "8000 x 8000", imageUrl: hugeImage() },
		{
			...base,
			name: "the limit of a minute",
			status: 429,
			code: "RATE_LIMIT_EXCEEDED",
			text: "1 requests per minute",
			key: limited.secret,
			model: "limited",
		},
		{ ...base, name: "a busy model", status: 429, code: "MODEL_OVERLOADED", text: "overloaded", model: "busy" },
		{ ...base, name: "a broken backend", status: 500, code: "INFERENCE_FAILED", text: "backend failed", model: "broken" },
		{ ...base, name: "a model without a backend", status: 503, code: "MODEL_OFFLINE", text: "is offline", model: "unplugged" },
		{
			...base,
			name: "a backend without the model",
			status: 503,
			code: "MODEL_OFFLINE",
			text: "cannot be reached",
			model: "gone",
		},
		{ ...base, name: "a backend that hangs", status: 504, code: "REQUEST_TIMEOUT", text: "in time", model: "slow" },
	];
}

/** What a user must have seen of a fault, in the shape in which it is compared. */
export function expectedOf(fault: Fault): object {
	return { name: fault.name, status: fault.status, code: fault.code, told: true, requestId: true };
}

export function comparable(fault: Fault, seen: Seen): object {
	return {
		name: fault.name,
		status: seen.status,
		code: seen.code,
		told: seen.message.includes(fault.text) || seen.message,
		requestId: /^[0-9A-Za-z]{32}$/.test(seen.requestId ?? "") || seen.requestId,
	};
}
