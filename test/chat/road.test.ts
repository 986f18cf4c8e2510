import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ChatCompletion, eventsOf, HELLO, pricedModel, priceOf } from "../support/chat-bodies.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";

let upstream: ScriptedUpstream;
let gate: RunningGateway;

beforeAll(async () => {
	upstream = startScriptedUpstream();
	upstream.models(["gratis"]);
	gate = await startGateway({
		config: {
			upstreams: { scripted: upstreamEntry(upstream.url) },
			models: { entries: { priced: pricedModel(["scripted"]) }, mappings: { text: { "gpt-x": "priced" } } },
		},
	});
});
afterAll(async () => {
	await gate.stop();
	await upstream.stop();
});

const chat = (body: object = {}) => gate.chat({ model: "priced", messages: HELLO, ...body });

async function costs(body: object): Promise<number> {
	const before = await gate.balance();
	await (await chat(body)).text();
	return before - (await gate.balance());
}

test("a chat answer costs what its usage says, and is posted once", async () => {
	const before = await gate.balance();
	const answer = await chat();
	expect(answer.status).toBe(200);
	const body = (await answer.json()) as ChatCompletion;
	expect(body.model).toBe("priced");
	expect(body.id).toStartWith("chatcmpl-");
	expect(body.choices[0]?.message.content).toBe("Hello, world!");
	const price = priceOf(body.usage);
	expect(Math.round(body.cost.usd * 1e9)).toBe(price);
	expect(before - (await gate.balance())).toBe(price);
	const posts = await gate.posts();
	expect(posts.filter((post) => post.request_id === answer.headers.get("x-request-id"))).toHaveLength(1);
	expect((await gate.audit()).findings).toEqual([]);
});

test("streamed and not streamed, by id and by alias, with and without a suffix cost the same", async () => {
	const plain = await costs({});
	for (const body of [
		{ stream: true },
		{ stream: true, stream_options: { include_usage: true } },
		{ model: "gpt-x" },
		{ model: "gpt-x", stream: true },
		{ model: "priced:enable_web_search=auto" },
	])
		expect(await costs(body)).toBe(plain);
});

test("a stream ends with usage where asked, and with [DONE]; its other chunks have no usage", async () => {
	const answer = await chat({ stream: true, stream_options: { include_usage: true } });
	expect(answer.headers.get("content-type")).toBe("text/event-stream");
	expect(answer.headers.get("cache-control")).toBe("no-cache");
	const { chunks, done } = eventsOf(await answer.text());
	expect(done).toBe(true);
	expect(
		chunks.every((chunk) => chunk.model === "priced" && chunk.id === chunks[0]?.id && chunk.created === chunks[0]?.created),
	).toBe(true);
	const last = chunks.at(-1);
	expect(last?.choices).toEqual([]);
	expect(last?.usage?.total_tokens).toBeGreaterThan(0);
	expect(chunks.slice(0, -1).every((chunk) => chunk.usage == null)).toBe(true);
	const unasked = eventsOf(await (await chat({ stream: true })).text());
	expect(unasked.done).toBe(true);
	expect(unasked.chunks.some((chunk) => chunk.usage != null || chunk.cost !== undefined)).toBe(false);
});

test("usage on every chunk, twice or late is billed once, by the last word", async () => {
	const plain = await costs({});
	for (const usage of ["every-chunk", "twice", "late"] as const) {
		upstream.next({ usage });
		expect(await costs({ stream: true })).toBe(plain);
	}
});

test("an upstream that gives no usage is billed by counting", async () => {
	for (const stream of [false, true]) {
		upstream.next({ usage: "never" });
		const before = await gate.balance();
		const answer = await chat({ stream });
		const text = await answer.text();
		expect(text).toContain("Hello");
		expect(before - (await gate.balance())).toBeGreaterThan(4000);
		const post = (await gate.posts()).find((row) => row.request_id === answer.headers.get("x-request-id"));
		expect(post?.tokens_counted).toBe(1);
		if (!stream) expect((JSON.parse(text) as ChatCompletion).usage.completion_tokens).toBeGreaterThan(0);
	}
});

test("a repeated GET is free", async () => {
	const before = await gate.balance();
	for (let count = 0; count < 3; count++) expect((await gate.call("GET", "/models")).status).toBe(200);
	expect(await gate.balance()).toBe(before);
});

test("a model without a price is free and still posted", async () => {
	const before = await gate.balance();
	const answer = await gate.chat({ model: "gratis", messages: HELLO });
	expect(answer.status).toBe(200);
	await answer.text();
	expect(await gate.balance()).toBe(before);
	const post = (await gate.posts()).find((row) => row.request_id === answer.headers.get("x-request-id"));
	expect(post).toMatchObject({ price: 0, status: 200, upstream: "scripted" });
});

test("no hold is open at idle", () => {
	expect(gate.gateway.budgets.holdsOpen).toBe(0);
});
