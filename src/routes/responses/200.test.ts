import { afterAll, beforeAll, expect, test } from "bun:test";
import { pricedModel, priceOf } from "../../../test/support/chat-bodies.ts";
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
	fetch(`${gate.url}/api/v1/responses`, {
		method: "POST",
		headers: { authorization: `Bearer ${gate.key}`, "content-type": "application/json" },
		body: JSON.stringify({ model: "priced", input: "hello", ...part }),
		...(signal ? { signal } : {}),
	});

/** The prompt as it is counted here: a quarter of its characters, and the frames of messages. */
const COUNTED_PROMPT = Math.ceil("hello".length / 4) + 7;
const PROMPT_AND_SPEECH = priceOf({ prompt_tokens: 9, completion_tokens: 4 });

const charged = (run: () => Promise<unknown>) => chargedFor(gate, run);

interface ResponseEvent {
	readonly type: string;
	readonly response?: { readonly usage: { readonly output_tokens: number }; readonly cost: { readonly usd: number } };
}
const lastEvent = (text: string) => JSON.parse(text.trimEnd().split("\ndata: ").at(-1) ?? "") as ResponseEvent;

test("whole and streamed cost the same: the upstream's usage, posted once and told", async () => {
	const whole = await charged(async () => {
		const body = (await (await ask()).json()) as NonNullable<ResponseEvent["response"]>;
		expect(Math.round(body.cost.usd * 1e9)).toBe(PROMPT_AND_SPEECH);
	});
	expect(whole).toMatchObject({
		price: PROMPT_AND_SPEECH,
		posts: 1,
		post: { status: 200, model: "priced", upstream: "scripted" },
	});
	const streamed = await charged(async () => {
		const answer = await ask({ stream: true });
		expect(answer.headers.get("content-type")).toBe("text/event-stream");
		const text = await answer.text();
		expect(text).not.toContain("[DONE]");
		expect(lastEvent(text)).toMatchObject({ type: "response.completed", response: { usage: { output_tokens: 4 } } });
	});
	expect(streamed).toMatchObject({ price: PROMPT_AND_SPEECH, posts: 1, post: { status: 200 } });
});

test("an upstream without usage is counted, and the counted tokens are told", async () => {
	upstream.next({ usage: "never" });
	const { price, post } = await charged(async () => {
		const { response } = lastEvent(await (await ask({ stream: true })).text());
		expect(response?.usage).toMatchObject({ input_tokens: COUNTED_PROMPT, output_tokens: 4 });
	});
	expect(post).toMatchObject({ tokens_counted: 1, prompt_tokens: COUNTED_PROMPT });
	expect(price).toBe(priceOf({ prompt_tokens: COUNTED_PROMPT, completion_tokens: 4 }));
});

test("cut by length it costs what was made, and one past its ceiling is ended", async () => {
	upstream.next({ speech: { content: ["Hel", "lo"], finishReason: "length" } });
	const cut = await charged(async () => {
		expect(lastEvent(await (await ask({ stream: true, max_output_tokens: 2 })).text()).type).toBe("response.incomplete");
	});
	expect(cut.price).toBe(priceOf({ prompt_tokens: 9, completion_tokens: 2 }));
	upstream.next({ speech: { content: Array.from({ length: 200 }, () => "word ") }, chunkDelayMs: 1 });
	const endless = await charged(async () => {
		expect(lastEvent(await (await ask({ stream: true, max_output_tokens: 20 })).text()).type).toBe("response.incomplete");
		await upstream.requests.at(-1)?.aborted;
	});
	expect(endless.post).toMatchObject({ status: 200, completion_tokens: 22 });
});

test("a caller that leaves pays what was done: the prompt, or the prompt and what came", async () => {
	upstream.next({ hang: true });
	const seen = upstream.requests.length;
	const whole = await charged(async () => {
		const abort = new AbortController();
		ask({}, abort.signal).catch(() => {});
		await until(() => upstream.requests.length > seen);
		abort.abort();
		await upstream.requests.at(-1)?.aborted;
		await until(async () => (await gate.posts()).at(-1)?.status === 499, "the post");
	});
	expect(whole).toMatchObject({ price: COUNTED_PROMPT * 1000, posts: 1 });
	upstream.next({ speech: { content: ["some words that were said", "never"] }, hang: "after-first-chunk" });
	const streamed = await charged(async () => {
		const abort = new AbortController();
		const answer = await ask({ stream: true }, abort.signal);
		const reader = answer.body?.getReader();
		await reader?.read();
		abort.abort();
		await upstream.requests.at(-1)?.aborted;
		await until(async () => (await gate.posts()).at(-1)?.request_id === answer.headers.get("x-request-id"), "the post");
	});
	expect(streamed.post).toMatchObject({ status: 499, prompt_tokens: COUNTED_PROMPT });
	expect(streamed.posts).toBe(1);
});

test("an upstream that breaks in the middle: what was sent is paid, before any word nothing", async () => {
	upstream.next({ dieAfterChunks: 3 });
	const broken = await charged(async () => {
		expect(lastEvent(await (await ask({ stream: true })).text()).type).toBe("response.failed");
	});
	expect(broken.post).toMatchObject({ status: 500, prompt_tokens: COUNTED_PROMPT });
	expect(broken.price).toBeGreaterThan(COUNTED_PROMPT * 1000);
	upstream.next({ dieAfterChunks: 0 });
	expect(await charged(async () => expect((await ask({ stream: true })).status).toBe(500))).toMatchObject({ price: 0, posts: 0 });
	const late = await charged(async () => {
		const { answer, text } = await oncePinged(upstream, { status: 500 }, () => ask({ stream: true }));
		expect(answer.status).toBe(200);
		expect(lastEvent(text).type).toBe("response.failed");
	});
	expect(late).toMatchObject({ price: 0, posts: 0 });
});

test("a silent upstream keeps the stream open with comments", async () => {
	const { text } = await oncePinged(upstream, {}, () => ask({ stream: true }));
	expect(text).toStartWith(": ping\n\n");
	expect(lastEvent(text).type).toBe("response.completed");
});

test("the first words reach the caller before the upstream sends more", async () => {
	let release: () => void = () => {};
	upstream.next({ beforeSecondChunk: new Promise<void>((resolve) => (release = resolve)) });
	const answer = await ask({ stream: true });
	const first = new TextDecoder().decode((await answer.body?.getReader().read())?.value);
	expect(first).toContain("event: response.created");
	release();
});

test("a large image goes on byte for byte", async () => {
	const header = Buffer.alloc(64);
	Buffer.from("89504e470d0a1a0a0000000d49484452", "hex").copy(header);
	header.writeUInt32BE(100, 16);
	header.writeUInt32BE(100, 20);
	const url = `data:image/png;base64,${Buffer.concat([header, Buffer.alloc(5_000_000, "é")]).toString("base64")}`;
	const content = [
		{ type: "input_text", text: 'what "is" it?' },
		{ type: "input_image", image_url: url },
	];
	expect((await ask({ input: [{ role: "user", content }], instructions: "Look." })).status).toBe(200);
	const [, message] = (upstream.requests.at(-1)?.body.messages ?? []) as { content: { image_url?: { url: string } }[] }[];
	expect(message?.content[1]?.image_url?.url === url).toBe(true);
});
