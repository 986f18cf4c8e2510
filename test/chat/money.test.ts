import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ErrorBody, eventsOf, HELLO, pricedModel } from "../support/chat-bodies.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { until } from "../support/until.ts";

let upstream: ScriptedUpstream;
let gate: RunningGateway;

beforeAll(async () => {
	upstream = startScriptedUpstream();
	gate = await startGateway({
		config: {
			upstreams: { scripted: upstreamEntry(upstream.url) },
			models: {
				entries: {
					priced: pricedModel(["scripted"]),
					dear: pricedModel(["scripted"], {
						price: { input: 15, output: 75 },
						contextTokens: 131_072,
						maxCompletionTokens: 32_768,
					}),
					tiered: pricedModel(["scripted"], { tier: "L", price: { input: 0, output: 0 } }),
				},
			},
			limits: {
				tiers: { L: { requestsPerMinute: 2, tokensPerMinute: 500_000, partnerRequestsPerMinute: 4 } },
				failedRequests: 0,
			},
		},
	});
});
afterAll(async () => {
	await gate.stop();
	await upstream.stop();
});

test("a caller with 1 USD and no maximum on a dear model with a long context is answered", async () => {
	const key = await gate.newKey({ creditUsd: "1" });
	for (const stream of [false, true]) {
		const answer = await gate.chat({ model: "dear", messages: HELLO, stream }, { key: key.secret });
		expect(answer.status).toBe(200);
		expect(await answer.text()).toContain("Hello");
		const sent = upstream.requests.at(-1)?.body ?? {};
		const ceiling = Number(sent.max_completion_tokens ?? sent.max_tokens);
		expect(ceiling).toBeGreaterThan(256);
		expect(ceiling).toBeLessThanOrEqual(32_768);
		expect(ceiling * 75_000).toBeLessThanOrEqual(500_000_000);
	}
});

test("a rich caller's body goes on without a maximum of ours", async () => {
	await (await gate.chat({ model: "priced", messages: HELLO })).text();
	const sent = upstream.requests.at(-1)?.body ?? {};
	expect(sent).not.toHaveProperty("max_tokens");
	expect(sent).not.toHaveProperty("max_completion_tokens");
});

test("a maximum that does not fit the money is refused with the number that would", async () => {
	const key = await gate.newKey({ creditUsd: "0.01" });
	const answer = await gate.chat({ model: "dear", messages: HELLO, max_completion_tokens: 4000 }, { key: key.secret });
	expect(answer.status).toBe(402);
	const { error, code } = (await answer.json()) as ErrorBody;
	expect(code).toBe("INSUFFICIENT_BALANCE");
	const fits = Number(/max_tokens: (\d+) would fit/.exec(error.message)?.[1]);
	expect(fits).toBeGreaterThan(0);
	const again = await gate.chat({ model: "dear", messages: HELLO, max_completion_tokens: fits }, { key: key.secret });
	expect(again.status).toBe(200);
	await again.text();
});

test("no money at all is 402 on a priced model and no hindrance on a free one", async () => {
	const key = await gate.newKey({ creditUsd: "0" });
	const answer = await gate.chat({ model: "priced", messages: HELLO }, { key: key.secret });
	expect(answer.status).toBe(402);
	expect(((await answer.json()) as ErrorBody).error).toMatchObject({ code: "INSUFFICIENT_BALANCE", type: "insufficient_quota" });
	expect((await gate.chat({ model: "tiered", messages: HELLO }, { key: key.secret })).status).toBe(200);
});

test("64 parallel calls on money for three: at most three run at once, none is served beyond the money", async () => {
	const tokens = 1000;
	const holdUsd = (tokens * 4 + 40) / 1e6;
	const key = await gate.newKey({ creditUsd: (holdUsd * 3).toFixed(9) });
	let running = 0;
	let most = 0;
	let release: () => void = () => {};
	const gateOpen = new Promise<void>((resolve) => (release = resolve));
	upstream.always(() => {
		running++;
		most = Math.max(most, running);
		return { beforeSecondChunk: gateOpen };
	});
	const calls = Array.from({ length: 64 }, () =>
		gate.chat({ model: "priced", messages: HELLO, max_completion_tokens: tokens, stream: true }, { key: key.secret }),
	);
	await until(() => running >= 3, "three running calls");
	const refused = Promise.all(calls.map((call) => call.then((answer) => answer.status)));
	release();
	const statuses = await refused;
	upstream.always({});
	expect(most).toBeLessThanOrEqual(3);
	expect(statuses.filter((status) => status === 200).length).toBeGreaterThanOrEqual(3);
	const first402 = calls[statuses.indexOf(402)];
	expect((await first402)?.headers.get("retry-after")).toBe("1");
	await Promise.all(calls.map(async (call) => (await call).text()));
	expect(await gate.balance(key.accountId)).toBeGreaterThanOrEqual(0);
	expect(gate.gateway.budgets.holdsOpen).toBe(0);
});

test("a key's limit refuses with its own code, and the account's other keys go on", async () => {
	const key = await gate.newKey({ creditUsd: "5" });
	const capped = await gate.newKey({
		account: key.accountId,
		key: { limits: { usd: "0.000001", diem: null, vcu: null }, limitPeriod: "LIFETIME" },
	});
	const answer = await gate.chat({ model: "priced", messages: HELLO, max_completion_tokens: 100 }, { key: capped.secret });
	expect(answer.status).toBe(402);
	expect(((await answer.json()) as ErrorBody).code).toBe("API_KEY_USD_SPEND_LIMIT_EXCEEDED");
	expect((await gate.chat({ model: "priced", messages: HELLO }, { key: key.secret })).status).toBe(200);
});

test("bundled credit is spent before USD, and a price above both goes to overrun, never below zero", async () => {
	const key = await gate.newKey({ creditUsd: "0.002", changes: { bundledUsd: "0.003" } });
	upstream.next({ usage: { prompt_tokens: 10, completion_tokens: 2000, total_tokens: 2010 } });
	const answer = await gate.chat({ model: "priced", messages: HELLO, max_completion_tokens: 1000 }, { key: key.secret });
	expect(answer.status).toBe(200);
	const { cost } = (await answer.json()) as { cost: { usd: number } };
	expect(Math.round(cost.usd * 1e9)).toBe(5_000_000);
	expect(await gate.balance(key.accountId)).toBe(0);
	const post = (await gate.posts()).at(-1);
	expect(post?.price).toBe(8_010_000);
	expect((await gate.audit()).findings).toEqual([]);
});

test("a stream past its ceiling ends with finish_reason length, usage and [DONE], and stops the upstream", async () => {
	upstream.next({ speech: { content: Array.from({ length: 200 }, () => "word ") }, chunkDelayMs: 1 });
	const answer = await gate.chat({
		model: "priced",
		messages: HELLO,
		stream: true,
		stream_options: { include_usage: true },
		max_completion_tokens: 20,
	});
	const { chunks, done } = eventsOf(await answer.text());
	expect(done).toBe(true);
	expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("length");
	expect(chunks.at(-1)?.usage?.completion_tokens).toBeGreaterThan(0);
	expect(chunks.length).toBeLessThan(60);
	await upstream.requests.at(-1)?.aborted;
	expect((await gate.posts()).at(-1)?.status).toBe(200);
});

test("an unary answer past its ceiling is not cut", async () => {
	upstream.next({ usage: { prompt_tokens: 10, completion_tokens: 50, total_tokens: 60 } });
	const answer = await gate.chat({ model: "priced", messages: HELLO, max_completion_tokens: 20 });
	expect(((await answer.json()) as { usage: object }).usage).toMatchObject({ completion_tokens: 50 });
	expect((await gate.posts()).at(-1)?.price).toBe(10 * 1000 + 50 * 4000);
});

test("requests per minute follow the model's tier and the account's standing", async () => {
	const paid = await gate.newKey();
	const statuses: number[] = [];
	for (let count = 0; count < 3; count++)
		statuses.push((await gate.chat({ model: "tiered", messages: HELLO }, { key: paid.secret })).status);
	expect(statuses).toEqual([200, 200, 429]);
	const partner = await gate.newKey({ changes: { tier: "partner" } });
	for (let count = 0; count < 4; count++)
		expect((await gate.chat({ model: "tiered", messages: HELLO }, { key: partner.secret })).status).toBe(200);
	const fifth = await gate.chat({ model: "tiered", messages: HELLO }, { key: partner.secret });
	expect(fifth.status).toBe(429);
	expect(Number(fifth.headers.get("retry-after"))).toBeGreaterThan(0);
	expect(((await fifth.json()) as ErrorBody).error).toMatchObject({ code: "RATE_LIMIT_EXCEEDED", type: "rate_limit_error" });
	expect((await gate.chat({ model: "priced", messages: HELLO }, { key: partner.secret })).status).toBe(402);
});

test("credit given while the server runs is there at once", async () => {
	const { credit } = await import("../../src/store/admin.ts");
	const key = await gate.newKey({ creditUsd: "0" });
	expect((await gate.chat({ model: "priced", messages: HELLO }, { key: key.secret })).status).toBe(402);
	await credit(gate.admin, { accountId: key.accountId, amount: "1" });
	await until(
		async () => (await gate.chat({ model: "priced", messages: HELLO }, { key: key.secret })).status === 200,
		"the credit",
	);
});

test("the books balance after all of this", async () => {
	await until(() => gate.gateway.budgets.holdsOpen === 0, "no open hold");
	const report = await gate.audit();
	expect(report.findings).toEqual([]);
	expect(report.counted.posts).toBeGreaterThan(10);
});
