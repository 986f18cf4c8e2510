/**
 * Three servers on one PostgreSQL and a key with a limit. Every request holds exactly what it costs, so a limit of N
 * prices lets N requests through: one more would pass the limit, one less would be a part of it that lay idle on a node.
 */
import { expect, test } from "bun:test";
import { audit } from "../../src/ledger/index.ts";
import { ANSWER, answered, BODY, createTally, hammer, NodeFleet, PRICE_NANO } from "../support/node-fleet.ts";
import { ADMIN_KEY, type Served } from "../support/served.ts";
import { until } from "../support/until.ts";

const fleet = NodeFleet.forTests();
const findings = async () => (await audit(fleet.admin.db)).findings;
const usd = (requests: number): string => (requests / 1_000).toFixed(3);

async function keys(node: Served, method: string, body: object): Promise<{ id: string; apiKey: string }> {
	const answer = await fetch(`${node.url}/api/v1/api_keys`, {
		method,
		headers: { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" },
		body: JSON.stringify(body),
	});
	expect(answer.status).toBe(200);
	return ((await answer.json()) as { data: { id: string; apiKey: string } }).data;
}

const limitedKey = (node: Served, requests: number, limitPeriod = "LIFETIME"): Promise<{ id: string; apiKey: string }> =>
	keys(node, "POST", {
		apiKeyType: "INFERENCE",
		description: "for this test",
		consumptionLimit: { usd: Number(usd(requests)) },
		limitPeriod,
	});

/** What is leased of the limit, over all nodes, and what each key has booked. */
async function leased(): Promise<number> {
	const rows = await fleet.admin.db.selectFrom("cap_leases").select("amount").execute();
	return rows.reduce((sum, { amount }) => sum + Number(amount), 0);
}

async function spentBy(keyId: string): Promise<number> {
	const rows = await fleet.admin.db.selectFrom("usage_daily").selectAll().where("key_id", "=", keyId).execute();
	return rows.reduce((sum, { amount, unit }) => sum + (unit === "usd" ? Number(amount) : 0), 0);
}

test("a limit for N requests lets exactly N through, whichever nodes they come to, and none is refused while a part lies idle elsewhere", async () => {
	const requests = 300;
	const started = await fleet.start(3, 10_000);
	const [first] = started;
	if (first === undefined) throw new Error("no nodes");
	const key = await limitedKey(first, requests);
	const tally = createTally();
	const idle: number[] = [];
	tally.onRefusal = ({ served, running }) => idle.push(requests - served.length - running);
	await hammer(started, 150, tally, undefined, key.apiKey);
	expect(tally).toMatchObject({ refused: 150, failed: 0 });
	expect(tally.served.length).toBe(requests);
	expect(Math.max(...idle)).toBeLessThanOrEqual(1);
	await until(async () => (await spentBy(key.id)) === requests * PRICE_NANO);
	const refused = await first.chat(BODY, { key: key.apiKey });
	expect([refused.status, ((await refused.json()) as { code?: string }).code ?? null]).toEqual([402, expect.anything()]);
	expect(await findings()).toEqual([]);
});

test("a node refuses nobody while others have a part of the limit that they do not use", async () => {
	const requests = 100;
	const [first, second, third] = await fleet.start(3, 10_000);
	if (first === undefined || second === undefined || third === undefined) throw new Error("no nodes");
	const key = await limitedKey(first, requests);
	// The limit is rich: each gets a lease for some requests to come.
	for (const node of [second, third]) await answered(node, key.apiKey);
	expect(await leased()).toBeGreaterThan(2 * PRICE_NANO);
	const tally = createTally();
	await hammer([first], 5, tally, undefined, key.apiKey);
	expect(tally).toMatchObject({ refused: 5, failed: 0 });
	expect(tally.served.length).toBe(requests - 2);
});

test("a changed limit holds on every node within a second, also one that is lower than what is leased", async () => {
	const started = await fleet.start(3, 10_000);
	const [first, second] = started;
	if (first === undefined || second === undefined) throw new Error("no nodes");
	const key = await limitedKey(first, 10_000);
	for (const node of started) await answered(node, key.apiKey);
	await until(async () => (await spentBy(key.id)) === 3 * PRICE_NANO);
	expect(await leased()).toBeGreaterThan(1_000 * PRICE_NANO);
	const change = async (requests: number): Promise<void> => {
		await keys(second, "PATCH", { id: key.id, consumptionLimit: { usd: Number(usd(requests)) } });
		await until(async () => (await leased()) === 0);
	};
	const total = { served: 3 };
	for (const limit of [20, 50]) {
		await change(limit);
		const tally = createTally();
		await hammer(started, 9, tally, undefined, key.apiKey);
		expect(tally).toMatchObject({ refused: 9, failed: 0 });
		total.served += tally.served.length;
		expect(total.served).toBe(limit);
		await until(async () => (await spentBy(key.id)) === limit * PRICE_NANO);
	}
	await change(10);
	for (const node of started) expect((await node.chat(BODY, { key: key.apiKey })).status).toBe(402);
});

test("kill -9 of a node in the middle leaves at most its lease unused, which then comes back, and its late posts are counted once", async () => {
	const requests = 500;
	const [first, second, third] = await fleet.start(3, 100_000);
	if (first === undefined || second === undefined || third === undefined) throw new Error("no nodes");
	const key = await limitedKey(first, requests);
	const tally = createTally();
	const load = hammer([first, second, third], 60, tally, undefined, key.apiKey);
	await until(() => tally.served.length > 150);
	third.kill("SIGKILL");
	await third.exited;
	await load;
	const booked = new Set(await fleet.bookedIds());
	expect(tally.served.filter((id) => !booked.has(id))).toEqual([]);
	await until(async () => {
		await hammer([first, second], 10, tally, undefined, key.apiKey);
		return (await spentBy(key.id)) >= requests * PRICE_NANO;
	});
	expect(await spentBy(key.id)).toBe(requests * PRICE_NANO);
	const before = await fleet.posts();
	await fleet.startAgain(third, 100_000);
	const late = (await fleet.posts()) - before;
	expect(await spentBy(key.id)).toBe((requests + late) * PRICE_NANO);
	expect(late).toBeLessThanOrEqual(20);
	expect(await findings()).toEqual([]);
});

test("a node that was stopped past its term uses nothing more of the limit, and its late posts are counted once", async () => {
	const requests = 60;
	const [first, second] = await fleet.start(2, 10_000);
	if (first === undefined || second === undefined) throw new Error("no nodes");
	const key = await limitedKey(first, requests);
	let release = () => {};
	const held = new Promise<void>((resolve) => {
		release = resolve;
	});
	fleet.upstream.always({ ...ANSWER, beforeSecondChunk: held });
	const late = await Promise.all(Array.from({ length: 5 }, () => second.chat({ ...BODY, stream: true }, { key: key.apiKey })));
	expect(late.map((answer) => answer.status)).toEqual(Array(5).fill(200));
	await until(async () => (await leased()) >= 5 * PRICE_NANO);
	second.kill("SIGSTOP");
	fleet.upstream.always(ANSWER);
	await until(async () => (await leased()) === 0);
	const tally = createTally();
	await hammer([first], 10, tally, undefined, key.apiKey);
	expect(tally.served.length).toBe(requests);
	second.kill("SIGCONT");
	release();
	for (const answer of late) expect(await answer.text()).toContain("[DONE]");
	await until(async () => (await fetch(`${second.url}/readyz`)).ok);
	expect((await second.chat(BODY, { key: key.apiKey })).status).toBe(402);
	await until(async () => (await spentBy(key.id)) === (requests + 5) * PRICE_NANO);
	expect(await findings()).toEqual([]);
});
