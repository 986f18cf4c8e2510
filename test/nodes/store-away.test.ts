/** Servers whose PostgreSQL goes away and comes back. */
import { expect, test } from "bun:test";
import { audit } from "../../src/ledger/index.ts";
import { answered, BODY, NodeFleet } from "../support/node-fleet.ts";
import { until } from "../support/until.ts";

const fleet = NodeFleet.forTests();

test("while the store is away a node serves on, and counts the minute alone", async () => {
	const limit = 20;
	const [node] = await fleet.start(1, 100_000, {
		node: { termMs: 60_000 },
		limits: { default: { requestsPerMinute: limit, tokensPerMinute: 1_000_000 } },
	});
	if (node === undefined) throw new Error("no node");
	// The account is rich: the node has money for what follows.
	await answered(node);
	await fleet.cluster.crash();
	const answers = await Promise.all(Array.from({ length: 30 }, () => node.chat(BODY)));
	const status = (wanted: number) => answers.filter((answer) => answer.status === wanted).length;
	expect([status(200), status(429)]).toEqual([limit - 1, 30 - (limit - 1)]);
	await fleet.cluster.start();
	await until(async () => (await fleet.posts().catch(() => 0)) === limit);
});

test("a store that stays away: paid work ends with 503, nothing acknowledged is lost, and all goes on by itself when it is back", async () => {
	const nodes = await fleet.start(2, 100_000, { node: { termMs: 3_000 } });
	for (const node of nodes) await answered(node);
	const acknowledged: string[] = [];
	const refusals: Response[] = [];
	let running = true;
	const clients = Array.from({ length: 6 }, async (_, index) => {
		const node = nodes[index % nodes.length];
		while (running && node !== undefined) {
			const answer = await node.chat(BODY);
			await answer.arrayBuffer();
			if (answer.status === 200) acknowledged.push(answer.headers.get("x-request-id") ?? "");
			else refusals.push(answer);
			if (answer.status !== 200) await Bun.sleep(20);
		}
	});
	await until(() => acknowledged.length > 20);
	await fleet.cluster.crash();
	const before = acknowledged.length;
	await until(async () => {
		const ready = await Promise.all(nodes.map((node) => fetch(`${node.url}/readyz`)));
		return ready.every(({ status }) => status === 503) && refusals.length > 10;
	});
	expect(acknowledged.length).toBeGreaterThan(before);
	expect((await fetch(`${nodes[0]?.url}/healthz`)).status).toBe(200);
	for (const { status, headers } of refusals) expect([status, Number(headers.get("retry-after")) > 0]).toEqual([503, true]);
	const meanwhile = acknowledged.length;
	await fleet.cluster.start();
	await until(() => acknowledged.length > meanwhile + 20);
	running = false;
	await Promise.all(clients);
	// The other one may need a moment more.
	for (const node of nodes) await until(async () => (await node.chat(BODY)).status === 200);
	// During the outage a journal was enough for an answer: the store has it a moment after it is back.
	await until(async () => {
		const found = new Set(await fleet.bookedIds());
		return acknowledged.every((id) => found.has(id));
	}, "every acknowledged answer is booked");
	const booked = await fleet.bookedIds();
	expect(new Set(booked).size).toBe(booked.length);
	expect((await audit(fleet.admin.db)).findings).toEqual([]);
});
