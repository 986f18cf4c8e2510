/** A gateway for the tests of API keys: keys made over HTTP, and a model that costs a cent a token. */
import { NANO_PER_USD } from "../../src/ledger/nano.ts";
import { disableAccount } from "../../src/store/admin.ts";
import { type GatewayOptions, type RunningGateway, startGateway, upstreamEntry } from "./running-gateway.ts";
import { startScriptedUpstream } from "./scripted-upstream.ts";

/** Costs 0.01 USD for each token of output, nothing for input. */
export const CENT_MODEL = "cent-model";
export const FREE_MODEL = "free-model";
export const DAY_MS = 86_400_000;

export interface Limits {
	readonly usd: number | null;
	readonly diem: number | null;
	readonly vcu: number | null;
}

export interface Key {
	readonly id: string;
	readonly apiKeyType: string;
	readonly consumptionLimits: Limits;
	readonly limitPeriod: string;
	readonly description: string;
	readonly createdAt: string;
	readonly lastUsedAt: string | null;
	readonly expiresAt: string | null;
	readonly last6Chars: string;
	readonly restrictions?: Readonly<Record<string, readonly string[] | null>>;
	readonly usage?: { readonly trailingSevenDays: { readonly usd: string; readonly diem: string; readonly vcu: string } };
	readonly currentPeriodUsage?: { readonly usd: string; readonly diem: string };
}

export interface CreatedKey {
	readonly id: string;
	readonly apiKey: string;
	readonly apiKeyType: string;
	readonly consumptionLimit: Limits;
	readonly limitPeriod: string;
	readonly description: string;
	readonly expiresAt: string | null;
	readonly restrictions?: Readonly<Record<string, readonly string[] | null>>;
}

export interface Refusal {
	readonly error: string;
	readonly code: string;
	readonly details?: Readonly<Record<string, unknown>>;
	readonly issues?: readonly { readonly path: readonly (string | number)[]; readonly code: string; readonly message: string }[];
}

export interface KeysGateway {
	readonly gate: RunningGateway;
	/** POST /api_keys; throws where it is refused. */
	create(body?: object, secret?: string): Promise<CreatedKey>;
	/** PATCH /api_keys; throws where it is refused. */
	patch(id: string, changes: object): Promise<Key>;
	show(id: string): Promise<Key>;
	list(query?: string): Promise<{ readonly data: readonly Key[]; readonly headers: Headers }>;
	/** A request with any key's secret. */
	as(secret: string, method: string, path: string, body?: unknown): Promise<Response>;
	/** A chat request that costs so many cents: `200`, or status and code of its refusal. */
	spend(secret: string, cents: number): Promise<string>;
	/** Disables an account, as the command line does. */
	disable(accountId: string): Promise<void>;
	/** Diem of an account from one day on, UTC days since 1970: a test's clock may be far from the store's. */
	stake(accountId: string, fromDay: number, diem: number): Promise<void>;
	stop(): Promise<void>;
}

export async function startKeysGateway(options: Omit<GatewayOptions, "config"> & { limits?: object } = {}): Promise<KeysGateway> {
	const upstream = startScriptedUpstream();
	upstream.always(({ body }) => {
		const tokens = Number(body.max_completion_tokens ?? body.max_tokens);
		return { usage: { prompt_tokens: 1, completion_tokens: tokens, total_tokens: tokens + 1 } };
	});
	const entry = (output: number) => ({
		type: "text",
		price: { input: 0, output },
		contextTokens: 8192,
		maxCompletionTokens: 4096,
		upstreams: [{ upstream: "scripted", model: "scripted", weight: 1, order: 0 }],
	});
	const { limits, ...rest } = options;
	const gate = await startGateway({
		creditUsd: "1000",
		...rest,
		config: {
			upstreams: { scripted: upstreamEntry(upstream.url) },
			models: { entries: { [CENT_MODEL]: entry(10_000), [FREE_MODEL]: entry(0) } },
			limits: { failedRequests: 0, keyCreationsPerMinute: 10_000, listRequestsPerMinute: 100_000, ...limits },
		},
	});
	const as: KeysGateway["as"] = (secret, method, path, body) =>
		gate.call(method, path, body, { authorization: `Bearer ${secret}` });
	return {
		gate,
		as,
		async create(body = {}, secret = gate.key) {
			const answer = await as(secret, "POST", "/api_keys", { apiKeyType: "INFERENCE", description: "", ...body });
			return (await taken<{ data: CreatedKey }>(answer)).data;
		},
		async patch(id, changes) {
			return (await taken<{ data: Key }>(await gate.call("PATCH", "/api_keys", { id, ...changes }))).data;
		},
		async show(id) {
			return (await taken<{ data: Key }>(await gate.call("GET", `/api_keys/${id}`))).data;
		},
		async list(query = "") {
			const answer = await gate.call("GET", `/api_keys${query}`);
			return { data: (await taken<{ data: Key[] }>(answer)).data, headers: answer.headers };
		},
		async spend(secret, cents) {
			const messages = [{ role: "user", content: "x" }];
			return verdict(await gate.chat({ model: CENT_MODEL, messages, max_completion_tokens: cents }, { key: secret }));
		},
		async disable(accountId) {
			await disableAccount(gate.admin, accountId);
		},
		async stake(accountId, fromDay, diem) {
			await gate.admin.db
				.insertInto("diem_stakes")
				.values({ account_id: accountId, from_day: fromDay, stake: diem * NANO_PER_USD, set_at: 0 })
				.execute();
		},
		async stop() {
			await gate.stop();
			await upstream.stop();
		},
	};
}

/** The body of a 200; throws with the body of anything else. */
export async function taken<T>(answer: Response): Promise<T> {
	const text = await answer.text();
	if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
	return JSON.parse(text) as T;
}

/** `200`, or status and machine code of a refusal. */
export async function verdict(answer: Response | Promise<Response>): Promise<string> {
	const response = await answer;
	const text = await response.text();
	return response.ok ? String(response.status) : `${response.status} ${(JSON.parse(text) as Refusal).code}`;
}
