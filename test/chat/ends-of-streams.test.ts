/** How servers end their streams: what is complete is told, charged and no fault of theirs. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { deltaText, eventsOf, HELLO, pricedModel } from "../support/chat-bodies.ts";
import { type PricedGateway, startPricedGateway } from "../support/priced-gateway.ts";
import { chargedFor, type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import type { ScriptedUpstream } from "../support/scripted-upstream.ts";

let fixture: PricedGateway;
let upstream: ScriptedUpstream;
let gate: RunningGateway;
beforeAll(async () => {
	fixture = await startPricedGateway();
	({ upstream, gate } = fixture);
});
beforeEach(() => upstream.reset());
afterAll(() => fixture.stop());

const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) =>
	JSON.stringify({
		id: "chatcmpl-1",
		object: "chat.completion.chunk",
		created: 1,
		model: "scripted",
		choices: [{ index: 0, delta, finish_reason }],
		...more,
	});
const USAGE = JSON.stringify({
	id: "chatcmpl-1",
	object: "chat.completion.chunk",
	created: 1,
	model: "scripted",
	choices: [],
	usage: { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 },
});
const SAID = `data: ${chunk({ role: "assistant", content: "Hello, world" })}\n\n`;
const STOP = `data: ${chunk({}, "stop")}`;
const TOLD = `data: ${USAGE}`;

const COMPLETE: readonly (readonly [string, string, number])[] = [
	["[DONE] with one line end", `${SAID}${STOP}\n\n${TOLD}\n\ndata: [DONE]\n`, 2],
	["[DONE] without a line end", `${SAID}${STOP}\n\n${TOLD}\n\ndata: [DONE]`, 2],
	["[DONE] behind a CR", `${SAID}${STOP}\n\n${TOLD}\n\ndata: [DONE]\r`, 2],
	["[DONE] that is cut, after everything", `${SAID}${STOP}\n\n${TOLD}\n\ndata: [DO`, 2],
	["usage without its blank line", `${SAID}${STOP}\n\n${TOLD}\n`, 2],
	["usage without a line end", `${SAID}${STOP}\n\n${TOLD}`, 2],
	["usage and no [DONE]", `${SAID}${STOP}\n\n${TOLD}\n\n`, 2],
	["a finish_reason, no usage and no [DONE]", `${SAID}${STOP}\n\n`, 3],
	["a finish_reason without its blank line", `${SAID}${STOP}\n`, 3],
	["a finish_reason without a line end", `${SAID}${STOP}`, 3],
	["one event alone, without a line end", `data: ${chunk({ content: "Hello, world" }, "stop")}`, 3],
	[
		"an empty finish_reason in every chunk but the last",
		`data: ${chunk({ content: "Hello, " }, "")}\n\ndata: ${chunk({ content: "world" }, "")}\n\n${STOP}`,
		3,
	],
];

test.each(COMPLETE)("complete: %s", async (_name, raw, completionTokens) => {
	upstream.always({ raw, headers: { "content-type": "text/event-stream" } });
	for (let time = 0; time < 4; time++) {
		const { post } = await chargedFor(gate, async () => {
			const answer = await gate.chat({ model: "priced", messages: HELLO, stream: true });
			const { chunks, done } = eventsOf(await answer.text());
			expect(chunks.find(({ error }) => error)?.error).toBeUndefined();
			expect([deltaText(chunks), done]).toEqual(["Hello, world", true]);
		});
		expect([post?.status, post?.completion_tokens]).toEqual([200, completionTokens]);
	}
	expect(upstream.requests).toHaveLength(4);
});

test("[DONE] with one line end is the end, also where the connection stays open behind it", async () => {
	const forever = new ReadableStream({
		start: (controller) => controller.enqueue(Buffer.from(`${SAID}${STOP}\n\n${TOLD}\n\ndata: [DONE]\n`)),
	});
	const server = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		fetch: () => new Response(forever, { headers: { "content-type": "text/event-stream" } }),
	});
	const other = await startGateway({
		config: {
			upstreams: { open: upstreamEntry(`http://127.0.0.1:${server.port}/v1`, { discover: false }) },
			models: { entries: { priced: pricedModel(["open"]) } },
		},
	});
	try {
		const answer = await other.chat({ model: "priced", messages: HELLO, stream: true });
		const { chunks, done } = eventsOf(await answer.text());
		expect([deltaText(chunks), done]).toEqual(["Hello, world", true]);
	} finally {
		await other.stop();
		await server.stop(true);
	}
});

test.each([
	["no finish_reason", SAID],
	["no finish_reason, and half an event", `${SAID}data: {"id":"chatcmpl-1","choices":[{"del`],
	["an empty finish_reason", `data: ${chunk({ content: "Hello, world" }, "")}\n\n`],
])("cut: %s", async (_name, raw) => {
	upstream.next({ raw, headers: { "content-type": "text/event-stream" } });
	const answer = await gate.chat({ model: "priced", messages: HELLO, stream: true });
	const { chunks, done } = eventsOf(await answer.text());
	expect([chunks.at(-1)?.error?.code, done]).toEqual(["INFERENCE_FAILED", false]);
});

test.each(["messages", "responses"])("an empty finish_reason in every chunk ends nothing on /%s", async (route) => {
	const raw = `data: ${chunk({ content: "Hello, " }, "")}\n\ndata: ${chunk({ content: "world" }, "")}\n\n${STOP}\n\n`;
	upstream.next({ raw, headers: { "content-type": "text/event-stream" } });
	const body = route === "messages" ? { messages: HELLO, max_tokens: 50 } : { input: "hello" };
	const text = await (await gate.call("POST", `/${route}`, { model: "priced", stream: true, ...body })).text();
	const begins = route === "messages" ? "event: content_block_start" : "event: response.output_item.added";
	expect(text.split(begins)).toHaveLength(2);
	expect(text).toContain(route === "messages" ? "message_stop" : "response.completed");
});
