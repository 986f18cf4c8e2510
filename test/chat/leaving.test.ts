import { afterAll, beforeAll, expect, test } from "bun:test";
import { HELLO, pricedModel } from "../support/chat-bodies.ts";
import { oncePinged } from "../support/pinged.ts";
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
			models: { entries: { priced: pricedModel(["scripted"]) } },
			stream: { earlyHeadersMs: 100, pingMs: 50 },
		},
	});
});
afterAll(async () => {
	await gate.stop();
	await upstream.stop();
});

const PROMPT_TOKENS = Math.ceil("hello".length / 4) + 7;

async function lastPost() {
	return (await gate.posts()).at(-1);
}

test("a caller that leaves a unary request pays the prompt, and the upstream is aborted", async () => {
	upstream.next({ hang: true });
	const before = await gate.balance();
	const count = (await gate.posts()).length;
	const seen = upstream.requests.length;
	const abort = new AbortController();
	const answer = gate.chat({ model: "priced", messages: HELLO }, { signal: abort.signal });
	answer.catch(() => {});
	await until(() => upstream.requests.length > seen);
	abort.abort();
	await upstream.requests.at(-1)?.aborted;
	await until(async () => (await gate.posts()).length > count, "the post");
	expect(before - (await gate.balance())).toBe(PROMPT_TOKENS * 1000);
	expect(await lastPost()).toMatchObject({ status: 499, upstream: "scripted" });
	expect(gate.gateway.budgets.holdsOpen).toBe(0);
});

test("a caller that leaves a stream pays prompt and what was received, also before the usage chunk", async () => {
	let release: () => void = () => {};
	upstream.next({
		speech: { content: ["some words that were said", "never"] },
		beforeSecondChunk: new Promise<void>((resolve) => (release = resolve)),
	});
	const before = await gate.balance();
	const abort = new AbortController();
	const answer = await gate.chat({ model: "priced", messages: HELLO, stream: true }, { signal: abort.signal });
	const reader = answer.body?.getReader();
	let text = "";
	while (!text.includes("\n\n")) text += new TextDecoder().decode((await reader?.read())?.value);
	abort.abort();
	await upstream.requests.at(-1)?.aborted;
	release();
	await until(async () => (await lastPost())?.request_id === answer.headers.get("x-request-id"), "the post");
	const post = await lastPost();
	expect(post?.status).toBe(499);
	expect(post?.prompt_tokens).toBe(PROMPT_TOKENS);
	expect(before - (await gate.balance())).toBe(PROMPT_TOKENS * 1000 + (post?.completion_tokens ?? 0) * 4000);
	expect(gate.gateway.budgets.holdsOpen).toBe(0);
});

test("the first chunk reaches the caller before the upstream sends its second", async () => {
	let release: () => void = () => {};
	upstream.next({ beforeSecondChunk: new Promise<void>((resolve) => (release = resolve)) });
	const answer = await gate.chat({ model: "priced", messages: HELLO, stream: true });
	const reader = answer.body?.getReader();
	const first = new TextDecoder().decode((await reader?.read())?.value);
	expect(first).toContain("data: {");
	release();
	let rest = "";
	for (let read = await reader?.read(); read && !read.done; read = await reader?.read())
		rest += new TextDecoder().decode(read.value);
	expect(rest).toContain("[DONE]");
});

test("a caller that leaves before the answer's first byte of a stream pays the prompt", async () => {
	upstream.next({ hang: true });
	const count = (await gate.posts()).length;
	const seen = upstream.requests.length;
	const abort = new AbortController();
	gate.chat({ model: "priced", messages: HELLO, stream: true }, { signal: abort.signal }).catch(() => {});
	await until(() => upstream.requests.length > seen);
	abort.abort();
	await until(async () => (await gate.posts()).length > count, "the post");
	expect(await lastPost()).toMatchObject({ status: 499, price: PROMPT_TOKENS * 1000 });
});

test("a silent upstream keeps the stream open with comments, and the answer still comes", async () => {
	const ask = () => gate.chat({ model: "priced", messages: HELLO, stream: true });
	const { answer, text } = await oncePinged(upstream, {}, ask);
	expect(answer.status).toBe(200);
	expect(text).toContain(": ping\n\n");
	expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
});

test("after early headers a failure is an error event, and nothing is charged", async () => {
	const before = await gate.balance();
	const ask = () => gate.chat({ model: "priced", messages: HELLO, stream: true });
	const { answer, text } = await oncePinged(upstream, { status: 500 }, ask);
	expect(answer.status).toBe(200);
	expect(text).toContain('"error":{"message"');
	expect(text).not.toContain("[DONE]");
	expect(await gate.balance()).toBe(before);
	expect(gate.gateway.budgets.holdsOpen).toBe(0);
});

test("a hundred streams that are left at random leave nothing open and books that balance", async () => {
	const runs = Array.from({ length: 100 }, async (_, index) => {
		const abort = new AbortController();
		try {
			const answer = await gate.chat({ model: "priced", messages: HELLO, stream: true }, { signal: abort.signal });
			const reader = answer.body?.getReader();
			if (index % 3 === 0) abort.abort();
			await reader?.read();
			if (index % 3 === 1) abort.abort();
			for (let read = await reader?.read(); read && !read.done; read = await reader?.read());
		} catch {
			// The test left on purpose.
		}
	});
	await Promise.all(runs);
	await until(() => gate.gateway.budgets.holdsOpen === 0 && upstream.open === 0 && gate.listening.running === 0, "idleness");
	expect((await gate.audit()).findings).toEqual([]);
});
