import { afterAll, beforeAll, expect, test } from "bun:test";
import { type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";

let upstream: ScriptedUpstream;
let gate: RunningGateway;

beforeAll(async () => {
	upstream = startScriptedUpstream();
	gate = await startGateway({
		config: {
			upstreams: { scripted: upstreamEntry(upstream.url) },
			models: {
				entries: {
					priced: {
						type: "text",
						price: { input: 1, output: 4 },
						contextTokens: 8192,
						maxCompletionTokens: 1024,
						upstreams: [{ upstream: "scripted", model: "scripted", weight: 1, order: 0 }],
					},
				},
			},
		},
	});
});
afterAll(async () => {
	await gate.stop();
	await upstream.stop();
});

const HELLO = { model: "priced", messages: [{ role: "user", content: "hello" }] };

test("a chat answer costs what its usage says, and is posted once", async () => {
	const before = await gate.balance();
	const answer = await gate.chat(HELLO);
	expect(answer.status).toBe(200);
	const body = (await answer.json()) as Record<string, any>;
	expect(body.model).toBe("priced");
	expect(body.choices[0].message.content).toBe("Hello, world!");
	const { prompt_tokens: prompt, completion_tokens: completion } = body.usage;
	const price = prompt * 1000 + completion * 4000;
	expect(Math.round(body.cost.usd * 1e9)).toBe(price);
	expect(before - (await gate.balance())).toBe(price);
	const posts = await gate.posts();
	expect(posts.filter((post) => post.request_id === answer.headers.get("x-request-id"))).toHaveLength(1);
	expect((await gate.audit()).findings).toEqual([]);
});

test("a stream costs the same and ends with [DONE]", async () => {
	const before = await gate.balance();
	const answer = await gate.chat({ ...HELLO, stream: true, stream_options: { include_usage: true } });
	expect(answer.headers.get("content-type")).toBe("text/event-stream");
	const text = await answer.text();
	expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
	const chunks = text
		.split("\n\n")
		.filter((line) => line.startsWith("data: {"))
		.map((line) => JSON.parse(line.slice(6)));
	expect(chunks.every((chunk) => chunk.model === "priced" && chunk.id === chunks[0].id)).toBe(true);
	const last = chunks.at(-1);
	expect(last.choices).toEqual([]);
	expect(before - (await gate.balance())).toBe(last.usage.prompt_tokens * 1000 + last.usage.completion_tokens * 4000);
	expect(gate.gateway.budgets.holdsOpen).toBe(0);
});
