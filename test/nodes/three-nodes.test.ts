/**
 * Three servers on one PostgreSQL. Every request holds exactly what it costs, so money for N requests must serve N:
 * one more would be money spent twice, one less money that lay idle on a node.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import { until } from "../../src/journal/testing/until.ts";
import { audit } from "../../src/ledger/index.ts";
import { type AdminStore, openAdmin, showAccount } from "../../src/store/admin.ts";
import { HELLO } from "../support/chat-bodies.ts";
import { type PostgresCluster, startPostgres } from "../support/postgres-cluster.ts";
import { upstreamEntry } from "../support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { ADMIN_KEY, type Served, serve } from "../support/served.ts";

/** 10 tokens at 100 USD per million: 0.001 USD a request. */
const PRICE_NANO = 1_000_000;
const BODY = { model: "fixed", messages: HELLO, max_tokens: 10 };
/** Short enough for a test, long enough for a loaded machine. */
const TERM_MS = 6_000;

let cluster: PostgresCluster;
let upstream: ScriptedUpstream;
let url: string;
let admin: AdminStore;
const nodes: Served[] = [];

beforeAll(async () => {
	cluster = await startPostgres();
}, 60_000);

afterAll(() => cluster.stop());

beforeEach(async () => {
	upstream = startScriptedUpstream();
	upstream.always({ usage: { prompt_tokens: 5, completion_tokens: 10, total_tokens: 15 } });
	url = await cluster.newDatabase();
	admin = openAdmin(url);
}, 30_000);

afterEach(async () => {
	for (const node of nodes.splice(0)) node.remove();
	await admin.close();
	await upstream.stop();
}, 30_000);

function configFor(requests: number): object {
	return {
		store: url,
		node: { termMs: TERM_MS },
		log: { level: "warn" },
		accounts: { startingCreditUsd: (requests / 1_000).toFixed(3) },
		upstreams: { scripted: upstreamEntry(upstream.url) },
		models: {
			entries: {
				fixed: { type: "text", price: { input: 0, output: 100 }, contextTokens: 4_096, upstreams: [{ upstream: "scripted" }] },
			},
		},
	};
}

/** Starts nodes together, on an empty database. */
async function start(count: number, requests: number): Promise<Served[]> {
	const started = await Promise.all(Array.from({ length: count }, () => serve({ config: configFor(requests) })));
	nodes.push(...started);
	return started;
}

async function accountId(): Promise<string> {
	return (await admin.db.selectFrom("accounts").select("id").executeTakeFirstOrThrow()).id;
}

const posts = async () => (await admin.db.selectFrom("posts").select(["request_id", "price"]).execute()).length;
const balance = async () => Number((await showAccount(admin, await accountId())).balances.usd);
const leased = async () => Number((await admin.db.selectFrom("budgets").select("leased").executeTakeFirstOrThrow()).leased);

interface Tally {
	/** Request ids of the answers. */
	readonly served: string[];
	refused: number;
	/** Requests that were neither: the node died under them, or took none. */
	failed: number;
}

/** Clients that ask until they are refused (402), or cannot ask any more. */
async function hammer(targets: readonly Served[], clients: number, tally: Tally, running = () => true): Promise<void> {
	const client = async (node: Served): Promise<void> => {
		while (running()) {
			let answer: Response;
			try {
				answer = await node.chat(BODY);
				await answer.arrayBuffer();
			} catch {
				tally.failed++;
				return;
			}
			if (answer.status === 200) tally.served.push(answer.headers.get("x-request-id") ?? "");
			else if (answer.status === 402) {
				tally.refused++;
				return;
			} else {
				tally.failed++;
				await Bun.sleep(50);
			}
		}
	};
	const of = (index: number) => targets[index % targets.length] as Served;
	await Promise.all(Array.from({ length: clients }, (_, index) => client(of(index))));
}

/** One request that must be answered. */
async function served(node: Served, key?: string): Promise<void> {
	const answer = await node.chat(BODY, key === undefined ? {} : { key });
	expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
}

const newTally = (): Tally => ({ served: [], refused: 0, failed: 0 });

test("200 clients on all nodes are served exactly as often as the credit allows, and every charge is booked once", async () => {
	const requests = 500;
	const started = await start(3, requests);
	expect(started.filter((node) => node.stdout().includes("sk_")).length).toBeLessThanOrEqual(1);
	const tally = newTally();
	await hammer(started, 200, tally);
	expect(tally).toMatchObject({ refused: 200, failed: 0 });
	expect(tally.served.length).toBe(requests);
	expect(new Set(tally.served).size).toBe(requests);
	expect(await posts()).toBe(requests);
	expect(await balance()).toBe(0);
	const report = await audit(admin.db);
	expect(report.findings).toEqual([]);
	expect(report.counted.accounts).toBe(1);
}, 90_000);

test("kill -9 of a node leaves at most its lease to be returned, which then is, and no acknowledged answer is lost", async () => {
	const requests = 3_000;
	const [first, second, third] = await start(3, requests);
	if (first === undefined || second === undefined || third === undefined) throw new Error("no nodes");
	const tally = newTally();
	let running = true;
	const load = hammer([first, second, third], 60, tally, () => running);
	await until(() => tally.served.length > 300, 20_000);
	third.kill("SIGKILL");
	await third.exited;
	await until(() => tally.served.length > 600, 20_000);
	running = false;
	await load;
	// The dead node comes back on its folder: what it had acknowledged is in its journal.
	const again = await serve({ dataDir: third.dataDir, config: configFor(requests) });
	nodes.push(again);
	const found = new Set((await admin.db.selectFrom("posts").select("request_id").execute()).map((row) => row.request_id));
	expect(tally.served.filter((id) => !found.has(id))).toEqual([]);
	const rest = newTally();
	await hammer([first, second, again], 60, rest);
	expect(await posts()).toBe(requests);
	expect(await balance()).toBe(0);
	expect((await audit(admin.db)).findings).toEqual([]);
}, 120_000);

test("a dead node's lease is free again when its term is over, and another spends it", async () => {
	const requests = 400;
	const [first, second] = await start(2, requests);
	if (first === undefined || second === undefined) throw new Error("no nodes");
	expect((await second.chat(BODY)).status).toBe(200);
	await until(async () => (await leased()) > 0, 20_000);
	second.kill("SIGKILL");
	await second.exited;
	const tally = newTally();
	// Until the dead node is reaped the first one has less; then it has all.
	const end = performance.now() + 6 * TERM_MS;
	while (tally.served.length < requests - 1 && performance.now() < end) await hammer([first], 20, tally);
	expect(tally.served.length).toBe(requests - 1);
	expect(await balance()).toBe(0);
	expect((await audit(admin.db)).findings).toEqual([]);
}, 120_000);

test("a node that was stopped past its term spends nothing more of it, its late posts are booked once, and it goes on in a new epoch", async () => {
	const requests = 400;
	const [first, second] = await start(2, requests);
	if (first === undefined || second === undefined) throw new Error("no nodes");
	// Requests whose answer is still to come when the node stops.
	let release = () => {};
	const held = new Promise<void>((resolve) => {
		release = resolve;
	});
	upstream.always({
		beforeSecondChunk: held,
		usage: { prompt_tokens: 5, completion_tokens: 10, total_tokens: 15 },
	});
	const late = await Promise.all(Array.from({ length: 5 }, () => second.chat({ ...BODY, stream: true })));
	expect(late.map((answer) => answer.status)).toEqual(Array(5).fill(200));
	await until(async () => (await leased()) >= 5 * PRICE_NANO, 20_000);
	second.kill("SIGSTOP");
	upstream.always({ usage: { prompt_tokens: 5, completion_tokens: 10, total_tokens: 15 } });
	const epochs = () => admin.db.selectFrom("nodes").select(["node_id", "epoch"]).execute();
	await until(async () => (await leased()) === 0, 6 * TERM_MS);
	const tally = newTally();
	await hammer([first], 20, tally);
	expect(tally.served.length).toBe(requests);
	expect(await balance()).toBe(0);
	second.kill("SIGCONT");
	release();
	for (const answer of late) expect(await answer.text()).toContain("[DONE]");
	// It has nothing left to spend, and knows it.
	await until(async () => (await fetch(`${second.url}/readyz`)).ok, 6 * TERM_MS);
	expect((await second.chat(BODY)).status).toBe(402);
	await until(async () => (await posts()) === requests + 5, 20_000);
	const overrun = await admin.db.selectFrom("movements").select("amount").where("kind", "=", "overrun").execute();
	expect(overrun.reduce((sum, row) => sum + Number(row.amount), 0)).toBe(5 * PRICE_NANO);
	expect((await epochs()).length).toBe(3);
	expect((await audit(admin.db)).findings).toEqual([]);
}, 120_000);

test("a revoked key is refused by every node within a second", async () => {
	const started = await start(3, 100);
	for (const node of started) await served(node);
	const made = await fetch(`${started[0]?.url}/api/v1/api_keys`, {
		method: "POST",
		headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
		body: JSON.stringify({ apiKeyType: "INFERENCE", description: "for this test" }),
	});
	const { data } = (await made.json()) as { data: { id: string; apiKey: string } };
	for (const node of started) await served(node, data.apiKey);
	const gone = await fetch(`${started[1]?.url}/api/v1/api_keys?id=${data.id}`, {
		method: "DELETE",
		headers: { authorization: `Bearer ${ADMIN_KEY}` },
	});
	expect(gone.status).toBe(200);
	const revokedAt = performance.now();
	for (const node of started) {
		await until(async () => (await node.chat(BODY, { key: data.apiKey })).status === 401, 20_000);
	}
	expect(performance.now() - revokedAt).toBeLessThan(5_000);
}, 60_000);
