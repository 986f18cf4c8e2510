/** The operator's routes on two servers of one PostgreSQL: the same payment on both, money that the other one has leased. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { audit } from "../../src/ledger/index.ts";
import { type AdminStore, openAdmin } from "../../src/store/admin.ts";
import type { AccountJson, Listed } from "../support/admin-gateway.ts";
import { HELLO } from "../support/chat-bodies.ts";
import { taken, verdict } from "../support/keys-gateway.ts";
import { type PostgresCluster, startPostgres } from "../support/postgres-cluster.ts";
import { upstreamEntry } from "../support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { ADMIN_KEY, type Served, serve } from "../support/served.ts";
import { until } from "../support/until.ts";

let cluster: PostgresCluster;
let upstream: ScriptedUpstream;
let nodes: readonly [Served, Served];
let store: AdminStore;

beforeAll(async () => {
	cluster = await startPostgres();
	upstream = startScriptedUpstream();
	upstream.always({ usage: { prompt_tokens: 5, completion_tokens: 10, total_tokens: 15 } });
	const url = await cluster.newDatabase();
	const config = {
		store: url,
		log: { level: "warn" },
		upstreams: { scripted: upstreamEntry(upstream.url) },
		models: {
			entries: {
				fixed: { type: "text", price: { input: 0, output: 1_000 }, contextTokens: 4_096, upstreams: [{ upstream: "scripted" }] },
			},
		},
	};
	nodes = await Promise.all([serve({ config }), serve({ config })]);
	store = openAdmin(url);
});

afterAll(async () => {
	for (const node of nodes ?? []) node.remove();
	await store?.close();
	await upstream?.stop();
	await cluster?.stop();
});

function ask(node: number, method: string, path: string, body?: unknown, key?: string): Promise<Response> {
	return fetch(`${nodes[node % 2]?.url}/api/v1/admin/accounts${path}`, {
		method,
		headers: {
			authorization: `Bearer ${ADMIN_KEY}`,
			...(body === undefined ? {} : { "content-type": "application/json" }),
			...(key === undefined ? {} : { "idempotency-key": key }),
		},
		...(body === undefined ? {} : { body: JSON.stringify(body) }),
	});
}

async function account(creditUsd = "0"): Promise<AccountJson> {
	return (await taken<{ data: AccountJson }>(await ask(0, "POST", "", { name: "customer", creditUsd }))).data;
}

const show = async (node: number, id: string) => (await taken<{ data: AccountJson }>(await ask(node, "GET", `/${id}`))).data;

test("a payment that comes on both nodes at once is credited once, and answered alike", async () => {
	const { id } = await account();
	const answers = await Promise.all(
		Array.from({ length: 40 }, (_, index) => ask(index, "POST", `/${id}/credits`, { amountUsd: "1" }, `order-${index >> 2}`)),
	);
	expect(answers.filter((answer) => answer.headers.get("idempotent-replayed") === null)).toHaveLength(10);
	const bodies = await Promise.all(answers.map((answer) => answer.text()));
	expect(new Set(bodies).size).toBe(10);
	expect((await show(1, id)).balanceUsd).toBe("10.0000");
	const { data } = await taken<Listed<{ amount: string }>>(await ask(1, "GET", `/${id}/credits`));
	expect(data.map(({ amount }) => amount)).toEqual(Array(10).fill("1.0000"));
});

test("an account that is made on both nodes at once under one key is one account", async () => {
	const answers = await Promise.all(
		[0, 1, 0, 1].map((node) => ask(node, "POST", "", { name: "once", creditUsd: "2" }, "signup")),
	);
	const made = await Promise.all(answers.map((answer) => taken<{ data: AccountJson }>(answer)));
	expect(new Set(made.map(({ data }) => data.id)).size).toBe(1);
	expect((await show(0, made[0]?.data.id ?? "")).balanceUsd).toBe("2.0000");
});

test("what one node did to an account the other knows: keys, credit, an end", async () => {
	const { id } = await account();
	const made = await taken<{ data: { id: string; apiKey: string } }>(
		await ask(0, "POST", `/${id}/keys`, { apiKeyType: "INFERENCE" }),
	);
	const chat = (node: number) => {
		const body = { model: "fixed", messages: HELLO, max_tokens: 10 };
		const served = nodes[node];
		if (served === undefined) throw new Error("no node");
		return verdict(served.chat(body, { key: made.data.apiKey }));
	};
	const eventually = (node: number, outcome: string) => until(async () => (await chat(node)) === outcome, outcome);
	await eventually(1, "402 INSUFFICIENT_BALANCE");
	await taken(await ask(0, "POST", `/${id}/credits`, { amountUsd: "0.05" }, "five-requests"));
	await eventually(1, "200");
	await taken(await ask(0, "DELETE", `/${id}/keys/${made.data.id}`));
	await eventually(1, "401 AUTHENTICATION_FAILED");
});

test("a debit on one node gets back what the other one has leased and does not use", async () => {
	const { id } = await account("100");
	const { data } = await taken<{ data: { apiKey: string } }>(await ask(1, "POST", `/${id}/keys`, { apiKeyType: "INFERENCE" }));
	expect(await verdict(nodes[1].chat({ model: "fixed", messages: HELLO, max_tokens: 10 }, { key: data.apiKey }))).toBe("200");
	const leased = await store.db.selectFrom("budgets").select("leased").where("account_id", "=", id).executeTakeFirstOrThrow();
	expect(leased.leased).toBeGreaterThan(0n);
	expect(await verdict(ask(0, "POST", `/${id}/debits`, { amountUsd: "99.99" }, "close-account"))).toBe("200");
	expect((await show(1, id)).balanceUsd).toBe("0.0000");
});

test("while the store is away a payment is refused, and booked once when it is sent again", async () => {
	const { id } = await account();
	await cluster.crash();
	const pay = () => ask(0, "POST", `/${id}/credits`, { amountUsd: "7" }, "during-an-outage");
	const refused = await pay();
	expect([refused.headers.get("retry-after"), await verdict(refused)]).toEqual(["1", "503 SERVICE_UNAVAILABLE"]);
	await cluster.start();
	await until(async () => (await verdict(pay())) === "200");
	expect(await verdict(pay())).toBe("200");
	expect((await show(0, id)).balanceUsd).toBe("7.0000");
});

test("the books are right after all that", async () => {
	const { ok, findings } = await audit(store.db);
	expect({ ok, findings }).toEqual({ ok: true, findings: [] });
});
