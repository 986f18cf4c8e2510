import { afterAll, beforeAll, expect, test } from "bun:test";
import { HELLO, pricedModel, priceOf } from "../../../test/support/chat-bodies.ts";
import { oncePinged } from "../../../test/support/pinged.ts";
import { chargedFor, type RunningGateway, startGateway, upstreamEntry } from "../../../test/support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../../../test/support/scripted-upstream.ts";
import { until } from "../../../test/support/until.ts";

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
	await until(() => gate.gateway.budgets.holdsOpen === 0 && upstream.open === 0, "no open hold");
	expect((await gate.audit()).findings).toEqual([]);
	await gate.stop();
	await upstream.stop();
});

const ask = (part: object = {}, signal?: AbortSignal) =>
	fetch(`${gate.url}/api/v1/messages?beta=true`, {
		method: "POST",
		headers: { "x-api-key": gate.key, "anthropic-version": "2023-06-01", "content-type": "application/json" },
		body: JSON.stringify({ model: "priced", max_tokens: 500, messages: HELLO, ...part }),
		...(signal ? { signal } : {}),
	});

/** The prompt as it is counted here: a quarter of its characters, and the frames of messages. */
const COUNTED_PROMPT = Math.ceil("hello".length / 4) + 7;
const PROMPT_AND_SPEECH = priceOf({ prompt_tokens: 9, completion_tokens: 4 });

const charged = (run: () => Promise<unknown>) => chargedFor(gate, run);

interface MessageEvent {
	readonly type: string;
	readonly [member: string]: unknown;
}
const eventsOf = (text: string) =>
	text
		.split("\n\n")
		.filter((block) => block !== "")
		.map((block) => JSON.parse(block.split("\ndata: ")[1] ?? "") as MessageEvent);

test("whole and streamed cost the same: the upstream's usage, posted once and told", async () => {
	const whole = await charged(async () => {
		const { cost } = (await (await ask()).json()) as { cost: { usd: number } };
		expect(Math.round(cost.usd * 1e9)).toBe(PROMPT_AND_SPEECH);
	});
	expect(whole).toMatchObject({
		price: PROMPT_AND_SPEECH,
		posts: 1,
		post: { status: 200, model: "priced", upstream: "scripted" },
	});
	const streamed = await charged(async () => {
		const events = eventsOf(await (await ask({ stream: true })).text());
		expect(events.at(-2)).toMatchObject({ usage: { input_tokens: 9, output_tokens: 4 }, delta: { stop_reason: "end_turn" } });
		expect(events.at(-1)).toEqual({ type: "message_stop" });
	});
	expect(streamed).toMatchObject({ price: PROMPT_AND_SPEECH, posts: 1, post: { status: 200 } });
});

test("cut by length it costs what was made", async () => {
	upstream.next({ speech: { content: ["Hel", "lo"], finishReason: "length" } });
	const cut = await charged(async () => {
		const events = eventsOf(await (await ask({ stream: true, max_tokens: 2 })).text());
		expect(events.at(-2)).toMatchObject({ delta: { stop_reason: "max_tokens" } });
	});
	expect(cut.price).toBe(priceOf({ prompt_tokens: 9, completion_tokens: 2 }));
});

test("a caller that leaves pays what was done", async () => {
	upstream.next({ speech: { content: ["some words that were said", "never"] }, hang: "after-first-chunk" });
	const left = await charged(async () => {
		const abort = new AbortController();
		const answer = await ask({ stream: true }, abort.signal);
		await answer.body?.getReader().read();
		abort.abort();
		await upstream.requests.at(-1)?.aborted;
		await until(async () => (await gate.posts()).at(-1)?.request_id === answer.headers.get("request-id"), "the post");
	});
	expect(left).toMatchObject({ posts: 1, post: { status: 499, prompt_tokens: COUNTED_PROMPT } });
});

test("an upstream that breaks in the middle ends the stream with an error, and what was sent is paid", async () => {
	upstream.next({ dieAfterChunks: 3 });
	const broken = await charged(async () => {
		const events = eventsOf(await (await ask({ stream: true })).text());
		expect(events.at(-1)).toMatchObject({ type: "error", error: { type: "api_error" } });
		expect(events.map(({ type }) => type)).not.toContain("message_stop");
	});
	expect(broken.post).toMatchObject({ status: 500, prompt_tokens: COUNTED_PROMPT });
	const late = await charged(async () => {
		const { answer, text } = await oncePinged(upstream, { status: 500 }, () => ask({ stream: true }));
		expect(answer.status).toBe(200);
		const types = eventsOf(text).map(({ type }) => type);
		expect([...new Set(types)]).toEqual(["ping", "error"]);
		expect(types.at(-1)).toBe("error");
	});
	expect(late).toMatchObject({ price: 0, posts: 0 });
});

test("a maximum above the model's own is no more than that", async () => {
	const key = await gate.newKey({ creditUsd: "0.01" });
	const answer = await gate.call(
		"POST",
		"/messages",
		{ model: "priced", max_tokens: 128_000, messages: HELLO },
		{ authorization: `Bearer ${key.secret}` },
	);
	expect(answer.status).toBe(200);
	expect(upstream.requests.at(-1)?.body.max_tokens).toBe(1024);
});

test("blocks of tools that run at Anthropic are left out, and a summary of what was before is text", async () => {
	const hosted = [
		"server_tool_use",
		"web_search_tool_result",
		"web_fetch_tool_result",
		"code_execution_tool_result",
		"bash_code_execution_tool_result",
		"text_editor_code_execution_tool_result",
		"tool_search_tool_result",
		"advisor_tool_result",
		"mcp_tool_use",
		"mcp_tool_result",
		"mcp_tool_listing",
		"fallback",
	].map((type) => ({ type, id: "a", tool_use_id: "a", name: "n", input: {}, content: [] }));
	const system = [
		{ type: "tool_addition", tool: { name: "f" } },
		{ type: "text", text: "Be brief." },
	];
	const messages = [
		{ role: "assistant", content: [{ type: "compaction", content: "They met.", signature: "s" }, ...hosted] },
		{ role: "user", content: "And then?" },
		{ role: "system", content: system },
	];
	expect((await ask({ messages })).status).toBe(200);
	expect(upstream.requests.at(-1)?.body.messages).toEqual([
		{ role: "assistant", content: "They met." },
		{ role: "user", content: "And then?" },
		{ role: "system", content: "Be brief." },
	]);
});

test("a large document goes on byte for byte", async () => {
	const header = Buffer.alloc(64);
	Buffer.from("89504e470d0a1a0a0000000d49484452", "hex").copy(header);
	header.writeUInt32BE(100, 16);
	header.writeUInt32BE(100, 20);
	const data = Buffer.concat([header, Buffer.alloc(5_000_000, "é")]).toString("base64");
	const source = { type: "base64", media_type: "image/png", data };
	expect((await ask({ messages: [{ role: "user", content: [{ type: "image", source }] }] })).status).toBe(200);
	const [message] = (upstream.requests.at(-1)?.body.messages ?? []) as { content: { image_url: { url: string } }[] }[];
	expect(message?.content[0]?.image_url.url === `data:image/png;base64,${data}`).toBe(true);
});
