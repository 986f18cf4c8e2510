import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ErrorBody, HELLO, pricedModel } from "../support/chat-bodies.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";

let upstream: ScriptedUpstream;
let gate: RunningGateway;

beforeAll(async () => {
	upstream = startScriptedUpstream();
	gate = await startGateway({
		config: {
			upstreams: { scripted: upstreamEntry(upstream.url), llama: upstreamEntry(upstream.url, { dialect: "llama.cpp" }) },
			models: {
				entries: {
					priced: pricedModel(["scripted"], { contextTokens: 4_000_000 }),
					llama: pricedModel(["llama"], { contextTokens: 4_000_000 }),
				},
			},
		},
	});
});
afterAll(async () => {
	await gate.stop();
	await upstream.stop();
});

const PROSE = "hello world ".repeat(420_000);
const DENSE = "漢字".repeat(900_000);

test.each<[string, string]>([
	["prose of five megabytes", PROSE],
	["text of five megabytes without a space", DENSE],
])("%s is held for by its bytes: a caller without that money is refused", async (_, content) => {
	const key = await gate.newKey({ creditUsd: "0.05" });
	const seen = upstream.requests.length;
	const answer = await gate.chat({ model: "priced", messages: [{ role: "user", content }], max_tokens: 1 }, { key: key.secret });
	expect(answer.status).toBe(402);
	expect(((await answer.json()) as ErrorBody).code).toBe("INSUFFICIENT_BALANCE");
	expect(upstream.requests.length).toBe(seen);
	expect(await gate.balance(key.accountId)).toBe(50_000_000);
});

const LONG_TEXT = "word ".repeat(200_000);

test("a large prompt is counted whole where the upstream gives no usage", async () => {
	const before = await gate.balance();
	upstream.next({ usage: "never" });
	expect((await gate.chat({ model: "priced", messages: [{ role: "user", content: PROSE }], max_tokens: 5 })).status).toBe(200);
	const promptTokens = PROSE.length / 4;
	expect(before - (await gate.balance())).toBeGreaterThan(promptTokens * 1000);
});

test("an image of megabytes is no text: it is held for by the piece", async () => {
	const key = await gate.newKey({ creditUsd: "0.05" });
	const file = Buffer.alloc(5_000_000);
	Buffer.from("89504e470d0a1a0a0000000d49484452", "hex").copy(file);
	file.writeUInt32BE(640, 16);
	file.writeUInt32BE(480, 20);
	const url = `data:image/png;base64,${file.toString("base64")}`;
	const messages = [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }];
	const answer = await gate.chat({ model: "priced", messages, max_tokens: 5 }, { key: key.secret });
	expect(answer.status).toBe(200);
	expect(upstream.requests.at(-1)?.text).toContain(url);
});

test.each([
	["documents", { text: LONG_TEXT }],
	["prompt", { text: LONG_TEXT }],
	["functions", { name: "look", description: LONG_TEXT }],
])("text under the key %s counts for the hold", async (name, item) => {
	const key = await gate.newKey({ creditUsd: "0.05" });
	const answer = await gate.chat({ model: "priced", messages: HELLO, max_tokens: 1, [name]: [item] }, { key: key.secret });
	expect(answer.status).toBe(402);
});

test("other names of the output's maximum, and keys that change the operator's price, do not go upstream", async () => {
	const extras = {
		n_predict: 900_000,
		max_new_tokens: 900_000,
		best_of: 20,
		num_predict: -1,
		min_tokens: 5_000,
		service_tier: "priority",
		models: ["dear"],
		extra_body: { max_tokens: 900_000, model: "dear" },
	};
	for (const model of ["priced", "llama"]) {
		expect((await gate.chat({ model, messages: HELLO, max_tokens: 1, ...extras, other: 1 })).status).toBe(200);
		const sent = upstream.requests.at(-1)?.body ?? {};
		for (const name of Object.keys(extras)) expect(sent).not.toHaveProperty(name);
		expect(sent.other).toBe(1);
	}
});

test("an answer of megabytes is counted, stripped and delivered whole", async () => {
	const said = "tea ".repeat(1_300_000);
	upstream.next({ speech: { content: [said] }, usage: "never" });
	const before = await gate.balance();
	const answer = await gate.chat({ model: "priced", messages: HELLO });
	expect(((await answer.json()) as { choices: { message: { content: string } }[] }).choices[0]?.message.content).toBe(said);
	expect(before - (await gate.balance())).toBeGreaterThan((said.length / 4) * 4000);
	upstream.next({ speech: { content: [`<think>hm</think>${said}`] } });
	const stripped = await gate.chat({ model: "priced", messages: HELLO, service_parameters: { strip_thinking_response: true } });
	expect(((await stripped.json()) as { choices: { message: { content: string } }[] }).choices[0]?.message.content).toBe(said);
});

test("a body with a million keys is refused before it is parsed", async () => {
	const keys = (count: number) => Array.from({ length: count }, (_, index) => `"k${index}":null`).join(",");
	const many = `{"model":"priced","messages":[{"role":"user","content":"x"}],${keys(1_000_000)}}`;
	const answer = await gate.call("POST", "/chat/completions", many);
	expect(answer.status).toBe(400);
	expect(((await answer.json()) as ErrorBody).error.message).toContain("keys");
	const some = `{"model":"priced","messages":[{"role":"user","content":"x"}],${keys(2_000)}}`;
	expect(((await (await gate.call("POST", "/chat/completions", some)).json()) as ErrorBody).error.message).toContain(
		"1000 top-level keys",
	);
});
