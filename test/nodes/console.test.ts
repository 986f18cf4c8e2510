/** The console on two servers of one PostgreSQL: a session of one works on the other, and ends on both. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { AuditState, KeyRow, Overview, Page, UsageReport } from "../../src/routes/console/types.ts";
import { HELLO } from "../support/chat-bodies.ts";
import { type ConsoleClient, clientOf, signIn } from "../support/console-gateway.ts";
import { taken, verdict } from "../support/keys-gateway.ts";
import { type PostgresCluster, startPostgres } from "../support/postgres-cluster.ts";
import { upstreamEntry } from "../support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { ADMIN_KEY, type Served, serve } from "../support/served.ts";
import { until } from "../support/until.ts";

let cluster: PostgresCluster;
let upstream: ScriptedUpstream;
let nodes: readonly [Served, Served];
let first: ConsoleClient;
let second: ConsoleClient;

beforeAll(async () => {
	cluster = await startPostgres();
	upstream = startScriptedUpstream();
	upstream.always({ usage: { prompt_tokens: 5, completion_tokens: 10, total_tokens: 15 } });
	const config = {
		store: await cluster.newDatabase(),
		log: { level: "warn" },
		upstreams: { scripted: upstreamEntry(upstream.url) },
		models: {
			entries: {
				fixed: { type: "text", price: { input: 0, output: 1_000 }, contextTokens: 4_096, upstreams: [{ upstream: "scripted" }] },
			},
		},
	};
	nodes = await Promise.all([serve({ config }), serve({ config })]);
	first = await signIn(nodes[0].url, ADMIN_KEY);
	second = clientOf(nodes[1].url, first.cookie, first.session);
});

afterAll(async () => {
	for (const node of nodes ?? []) node.remove();
	await upstream?.stop();
	await cluster?.stop();
});

test("a session that began on one node reads, changes and pays on the other", async () => {
	const { data } = await second.change<{ data: { id: string } }>("POST", "/accounts", { name: "made on the second" });
	expect((await first.get<{ data: { name: string } }>(`/accounts/${data.id}`)).data.name).toBe("made on the second");
	const chat = await second.ask("POST", "/play/chat/completions", { model: "fixed", messages: HELLO, max_tokens: 10 });
	expect(chat.status).toBe(200);
	await chat.text();
	await until(
		async () => (await first.get<{ data: object }>(`/requests/${chat.headers.get("x-request-id")}`).catch(() => null)) !== null,
		"the booking",
	);
	expect((await first.get<UsageReport>("/usage?by=model,key,account")).total.usd).toBe("0.0100");
});

test("every list and report is read from PostgreSQL", async () => {
	for (const path of [
		"/accounts?search=made",
		"/keys?search=first&state=all",
		"/usage?by=day,model,account",
		"/usage.csv",
		"/margin",
		"/networks",
		"/sends?network=ethereum-mainnet&since=2026-01-01",
		"/refusals",
		"/wallets?search=0x",
		"/top-ups?state=failed&payer=0x",
	])
		expect([path, (await second.ask("GET", path)).status]).toEqual([path, 200]);
	const overview = await first.get<Overview>("/overview?days=2");
	expect([overview.node.store, overview.days.at(-1)?.usd, overview.days.at(-1)?.requests]).toEqual(["postgres", "0.0100", 1]);
	const keys = await first.get<Page<KeyRow>>("/keys?limit=1");
	expect([keys.data.length, keys.nextCursor]).toEqual([1, null]);
	await first.change("POST", "/books");
	await until(async () => (await first.get<AuditState>("/books")).state === "done", "the audit's end");
	expect((await first.get<AuditState>("/books")).report?.ok).toBe(true);
});

test("a session ends on all nodes: by signing out, or with its key", async () => {
	const { data: me } = await taken<{ data: { id: string }[] }>(
		await fetch(`${nodes[0].url}/api/v1/admin/accounts`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } }),
	);
	const accountId = me.at(-1)?.id ?? "";
	const { data: key } = await first.change<{ data: { id: string; apiKey: string } }>("POST", `/accounts/${accountId}/keys`, {
		apiKeyType: "ADMIN",
	});
	const ofKey = await signIn(nodes[0].url, key.apiKey);
	const there = clientOf(nodes[1].url, ofKey.cookie, ofKey.session);
	expect((await there.ask("GET", "/session")).status).toBe(200);
	await second.change("DELETE", `/accounts/${accountId}/keys/${key.id}`);
	for (const client of [there, ofKey])
		await until(async () => (await verdict(client.ask("GET", "/session"))) === "401 AUTHENTICATION_FAILED", "the key's end");
	await second.change("DELETE", "/session");
	expect(await verdict(first.ask("GET", "/session"))).toBe("401 AUTHENTICATION_FAILED");
	expect(await verdict(second.ask("POST", "/play/chat/completions", {}))).toBe("401 AUTHENTICATION_FAILED");
});
