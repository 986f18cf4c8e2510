/**
 * Three servers on one PostgreSQL. Every request holds exactly what it costs, so money for N requests must serve N:
 * one more would be money spent twice, one less money that lay idle on a node.
 */
import { expect, test } from "bun:test";
import { audit } from "../../src/ledger/index.ts";
import { ANSWER, answered, BODY, createTally, hammer, NodeFleet, PRICE_NANO } from "../support/node-fleet.ts";
import { until } from "../support/until.ts";

const fleet = NodeFleet.forTests();
const findings = async () => (await audit(fleet.admin.db)).findings;

test("200 clients on all nodes are served exactly as often as the credit allows, and every charge is booked once", async () => {
	const requests = 500;
	const started = await fleet.start(3, requests);
	expect(started.filter((node) => node.stdout().includes("sk_")).length).toBeLessThanOrEqual(1);
	const tally = createTally();
	// Money that neither an answer nor a running request has when somebody is refused lies idle somewhere.
	const idle: number[] = [];
	tally.onRefusal = ({ served, running }) => idle.push(requests - served.length - running);
	await hammer(started, 200, tally);
	expect(tally).toMatchObject({ refused: 200, failed: 0 });
	expect(Math.max(...idle)).toBeLessThanOrEqual(1);
	expect(tally.served.length).toBe(requests);
	expect(new Set(tally.served).size).toBe(requests);
	expect(await fleet.posts()).toBe(requests);
	expect(await fleet.sums()).toEqual({ posts: requests * PRICE_NANO, charges: requests * PRICE_NANO, overrun: 0 });
	expect(await fleet.balance()).toBe(0);
	const report = await audit(fleet.admin.db);
	expect(report.findings).toEqual([]);
	expect(report.counted.accounts).toBe(1);
});

test("a node refuses nobody while others have money that they do not use", async () => {
	const requests = 100;
	const [first, second, third] = await fleet.start(3, requests);
	if (first === undefined || second === undefined || third === undefined) throw new Error("no nodes");
	// The account is rich: each gets a lease for some requests to come.
	for (const node of [second, third]) await answered(node);
	expect(await fleet.leased()).toBeGreaterThan(2 * PRICE_NANO);
	const tally = createTally();
	await hammer([first], 5, tally);
	expect(tally).toMatchObject({ refused: 5, failed: 0 });
	expect(tally.served.length).toBe(requests - 2);
	expect(await findings()).toEqual([]);
});

test("kill -9 of a node in the middle leaves at most its lease to be returned, which then is, and its late posts are booked once", async () => {
	const requests = 1_500;
	const [first, second, third] = await fleet.start(3, requests);
	if (first === undefined || second === undefined || third === undefined) throw new Error("no nodes");
	const tally = createTally();
	const load = hammer([first, second, third], 60, tally);
	await until(() => tally.served.length > 200);
	third.kill("SIGKILL");
	await third.exited;
	const { db } = fleet.admin;
	const leases = await db.selectFrom("leases").select("amount").execute();
	await load;
	// The others spent all but what the dead one had leased, or but one hold; where it was reaped by now, less is left.
	const most = Math.max(0, ...leases.map((row) => Number(row.amount)));
	expect(await fleet.balance()).toBeLessThanOrEqual(most + PRICE_NANO);
	const booked = new Set(await fleet.bookedIds());
	expect(tally.served.filter((id) => !booked.has(id))).toEqual([]);
	await until(async () => {
		await hammer([first, second], 20, tally);
		return (await fleet.balance()) === 0;
	});
	// What it had under way and in its journal comes with its next start: more was served then than there was money for.
	const before = await fleet.posts();
	expect(before).toBe(requests);
	await fleet.startAgain(third, requests);
	const late = (await fleet.posts()) - before;
	const { posts, charges, overrun } = await fleet.sums();
	expect({ posts, charges, overrun }).toEqual({
		posts: (requests + late) * PRICE_NANO,
		charges: requests * PRICE_NANO,
		overrun: late * PRICE_NANO,
	});
	expect(await findings()).toEqual([]);
});

test("a node that is killed and comes back on its folder has lost no acknowledged answer", async () => {
	const requests = 2_000;
	const [first, second, third] = await fleet.start(3, requests);
	if (first === undefined || second === undefined || third === undefined) throw new Error("no nodes");
	const tally = createTally();
	let running = true;
	const load = hammer([first, second, third], 60, tally, () => running);
	await until(() => tally.served.length > 200);
	third.kill("SIGKILL");
	await third.exited;
	running = false;
	await load;
	const again = await fleet.startAgain(third, requests);
	const found = new Set(await fleet.bookedIds());
	expect(tally.served.filter((id) => !found.has(id))).toEqual([]);
	const rest = createTally();
	await hammer([first, second, again], 60, rest);
	expect(await fleet.posts()).toBe(requests);
	expect(await fleet.balance()).toBe(0);
	expect(await findings()).toEqual([]);
});

test("a node that was stopped past its term spends nothing more of it, its late posts are booked once, and it goes on in a new epoch", async () => {
	const requests = 400;
	const [first, second] = await fleet.start(2, requests);
	if (first === undefined || second === undefined) throw new Error("no nodes");
	// Requests whose answer is still to come when the node stops.
	let release = () => {};
	const held = new Promise<void>((resolve) => {
		release = resolve;
	});
	fleet.upstream.always({ ...ANSWER, beforeSecondChunk: held });
	const late = await Promise.all(Array.from({ length: 5 }, () => second.chat({ ...BODY, stream: true })));
	expect(late.map((answer) => answer.status)).toEqual(Array(5).fill(200));
	await until(async () => (await fleet.leased()) >= 5 * PRICE_NANO);
	second.kill("SIGSTOP");
	fleet.upstream.always(ANSWER);
	await until(async () => (await fleet.leased()) === 0);
	const tally = createTally();
	await hammer([first], 20, tally);
	expect(tally.served.length).toBe(requests);
	expect(await fleet.balance()).toBe(0);
	second.kill("SIGCONT");
	release();
	for (const answer of late) expect(await answer.text()).toContain("[DONE]");
	// It has nothing left to spend, and knows it.
	await until(async () => (await fetch(`${second.url}/readyz`)).ok);
	expect((await second.chat(BODY)).status).toBe(402);
	await until(async () => (await fleet.posts()) === requests + 5);
	expect(await fleet.sums()).toEqual({
		posts: (requests + 5) * PRICE_NANO,
		charges: requests * PRICE_NANO,
		overrun: 5 * PRICE_NANO,
	});
	const epochs = await fleet.admin.db.selectFrom("nodes").select(["node_id", "epoch"]).execute();
	expect(epochs.length).toBe(3);
	expect(await findings()).toEqual([]);
});
