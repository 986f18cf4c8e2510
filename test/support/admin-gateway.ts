/** A gateway for the tests of the operator's routes: accounts made over HTTP, and a model that costs a cent a token. */
import { keyHash } from "../../src/access/index.ts";
import { NANO_PER_USD, nano } from "../../src/ledger/nano.ts";
import { CENT_MODEL, type KeysGateway, type Limits, startKeysGateway, taken } from "./keys-gateway.ts";
import type { GatewayOptions } from "./running-gateway.ts";

export interface AccountJson {
	readonly id: string;
	readonly name: string;
	readonly tier: string;
	readonly operator: boolean;
	readonly disabled: boolean;
	readonly wallet: string | null;
	readonly createdAt: string;
	readonly balanceUsd: string;
	readonly bundledUsd: string;
	readonly diemToday: string;
	readonly stakeDiemToday: string;
	readonly stakeDiemNext: string | null;
	readonly stakeSource: string;
}

export interface BookedJson {
	readonly reference: string;
	readonly accountId: string;
	readonly amountUsd: string;
	readonly balanceUsd: string;
	readonly createdAt: string;
}

export interface Listed<T> {
	readonly object: "list";
	readonly data: readonly T[];
	readonly nextCursor: string | null;
}

export interface AdminGateway extends KeysGateway {
	/** A request of the operator; with `key` as its Idempotency-Key. */
	ask(method: string, path: string, body?: unknown, key?: string): Promise<Response>;
	/** POST /admin/accounts; throws where it is refused. */
	account(body?: object): Promise<AccountJson>;
	showAccount(id: string): Promise<AccountJson>;
	/** POST .../credits; throws where it is refused. */
	credit(id: string, amountUsd: string, key: string): Promise<BookedJson>;
	/** A key of the account, made by the operator. */
	keyOf(id: string, body?: object): Promise<{ readonly id: string; readonly apiKey: string; readonly consumptionLimit: Limits }>;
	/** Holds so many cents, as a request that is under way. Returns what ends it. */
	holdOf(secret: string, cents: number): Promise<() => void>;
	/** A paid request of a key: its X-Request-ID, when it is in the store. */
	charge(secret: string, cents: number, model?: string): Promise<string>;
}

export async function startAdminGateway(
	options: Omit<GatewayOptions, "config"> & { limits?: object } = {},
): Promise<AdminGateway> {
	const keys = await startKeysGateway(options);
	const ask: AdminGateway["ask"] = (method, path, body, key) =>
		keys.gate.call(method, `/admin/accounts${path}`, body, key === undefined ? {} : { "idempotency-key": key });
	const data = async <T>(answer: Promise<Response>) => (await taken<{ data: T }>(await answer)).data;
	return {
		...keys,
		ask,
		account: (body = {}) => data(ask("POST", "", { name: "a customer", ...body })),
		showAccount: (id) => data(ask("GET", `/${id}`)),
		credit: (id, amountUsd, key) => data(ask("POST", `/${id}/credits`, { amountUsd }, key)),
		keyOf: (id, body = {}) => data(ask("POST", `/${id}/keys`, { apiKeyType: "INFERENCE", ...body })),
		async holdOf(secret, cents) {
			const { budgets } = keys.gate.gateway;
			const caller = await budgets.caller(keyHash(secret));
			if (caller === null) throw new Error("the key is unknown");
			const context = { requestId: "r".repeat(32), route: "chat", model: CENT_MODEL, admittedAtMs: Date.now() };
			const hold = await budgets.hold(caller, context, nano((cents * NANO_PER_USD) / 100));
			return () => hold.void();
		},
		async charge(secret, cents, model = CENT_MODEL) {
			const messages = [{ role: "user", content: "x" }];
			const answer = await keys.gate.chat({ model, messages, max_completion_tokens: cents }, { key: secret });
			await taken(answer);
			await keys.gate.openedStore.store.settled();
			return answer.headers.get("x-request-id") ?? "";
		},
	};
}
