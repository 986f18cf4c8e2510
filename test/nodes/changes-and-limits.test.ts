/** Three servers on one PostgreSQL: what is changed on one holds on all, and limits per minute hold over all together. */
import { expect, test } from "bun:test";
import { answered, BODY, createTally, hammer, NodeFleet } from "../support/node-fleet.ts";
import { ADMIN_KEY, type Served } from "../support/served.ts";
import { until } from "../support/until.ts";

const fleet = NodeFleet.forTests();
const ROUNDS = 5;

/** A call of the routes for API keys, on one node. */
async function keys(node: Served | undefined, method: string, query: string, body?: object): Promise<unknown> {
	const answer = await fetch(`${node?.url}/api/v1/api_keys${query}`, {
		method,
		headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
		...(body === undefined ? {} : { body: JSON.stringify(body) }),
	});
	expect([answer.status, query]).toEqual([200, query]);
	return answer.json();
}

async function createKey(node: Served | undefined): Promise<{ id: string; apiKey: string }> {
	const made = await keys(node, "POST", "", { apiKeyType: "INFERENCE", description: "for this test" });
	return (made as { data: { id: string; apiKey: string } }).data;
}

/** Waits until each node answers a key's requests with a status. */
async function reached(nodes: readonly Served[], key: string, status: number): Promise<void> {
	await Promise.all(nodes.map((node) => until(async () => (await node.chat(BODY, { key })).status === status)));
}

test("a revoked key is refused, and a changed limit holds, on every node", async () => {
	const started = await fleet.start(3, 1_000);
	for (const node of started) await answered(node);
	for (let round = 0; round < ROUNDS; round++) {
		const key = await createKey(started[0]);
		for (const node of started) await answered(node, key.apiKey);
		await keys(started[1], "PATCH", "", { id: key.id, consumptionLimit: { usd: 0 } });
		await reached(started, key.apiKey, 402);
		await keys(started[2], "DELETE", `?id=${key.id}`);
		await reached(started, key.apiKey, 401);
	}
});

test("a limit of requests per minute lets exactly so many through over all nodes", async () => {
	const limit = 60;
	const started = await fleet.start(3, 1_000, { limits: { default: { requestsPerMinute: limit, tokensPerMinute: 1_000_000 } } });
	const asked = started.flatMap((node) => Array.from({ length: 50 }, () => node.chat(BODY)));
	const answers = await Promise.all(asked);
	const status = (wanted: number) => answers.filter((answer) => answer.status === wanted);
	expect([status(200).length, status(429).length]).toEqual([limit, 150 - limit]);
	for (const answer of status(429)) {
		expect(Number(answer.headers.get("x-ratelimit-limit-requests"))).toBe(limit);
		expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
	}
	const rest = status(200).map((answer) => Number(answer.headers.get("x-ratelimit-remaining-requests")));
	expect(Math.min(...rest)).toBe(0);
	const tally = createTally();
	let running = true;
	const load = hammer(started, 3, tally, () => running);
	await until(() => tally.failed >= 6);
	running = false;
	await load;
	expect(tally.served.length).toBe(0);
});

test("tokens per minute that one node used up are used up for the others", async () => {
	const [first, second] = await fleet.start(2, 1_000, {
		limits: { default: { requestsPerMinute: 1_000, tokensPerMinute: 200 } },
	});
	if (first === undefined || second === undefined) throw new Error("no nodes");
	// Each uses 15 tokens; together they pass 200 soon.
	await until(async () => (await first.chat(BODY)).status === 429);
	await until(async () => (await second.chat(BODY)).status === 429);
	expect(await fleet.posts()).toBeLessThan(40);
});
