/** Searches of X by the provider itself: only where all that serve the model have them, paid by what they found. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ChatCompletion, eventsOf } from "../support/chat-bodies.ts";
import { TALK } from "../support/providers/index.ts";
import { type ProviderServer, startProviderServer } from "../support/providers/server.ts";
import { type RunningGateway, startGateway } from "../support/running-gateway.ts";
import { type ScriptedSearch, startScriptedSearch } from "../support/scripted-search.ts";
import { user } from "./web-fixture.ts";

let providers: ProviderServer;
let search: ScriptedSearch;
let gate: RunningGateway;
beforeAll(async () => {
	providers = startProviderServer();
	search = startScriptedSearch();
	const seeing = { capabilities: { supportsXSearch: true } };
	const { xai, anthropic } = providers.models;
	gate = await startGateway({
		config: {
			limits: { failedRequests: 0 },
			web: { search: search.section(["brave"]) },
			upstreams: providers.upstreams,
			models: { entries: { grok: { ...xai, ...seeing }, plain: xai, claude: { ...anthropic, ...seeing } } },
		},
	});
});
afterAll(async () => {
	expect(providers.complaints).toEqual([]);
	expect((await gate.audit()).findings).toEqual([]);
	await Promise.all([gate.stop(), providers.stop(), search.stop()]);
});

const FEE = 10_000_000;
const USAGE = { input_tokens: 100, output_tokens: 10, total_tokens: 110 };
const post = (index: number) => ({
	type: "url_citation",
	url: `https://x.example/${index}`,
	title: `Post ${index}`,
	start_index: 0,
	end_index: 3,
});
/** What the provider answers after a search of its own: one search, and a text that cites posts. */
function answerWith(annotations: readonly object[]) {
	const output = [
		{ type: "x_search_call", id: "xs_1", status: "completed", action: { type: "search", query: "tea" } },
		{
			type: "message",
			id: "msg_1",
			role: "assistant",
			status: "completed",
			content: [{ type: "output_text", text: "Tea.", annotations }],
		},
	];
	return { id: "resp_1", object: "response", created_at: 1, model: "grok-4", status: "completed", output, usage: USAGE };
}
const TOKENS = 100 * 1_000 + 10 * 4_000;
const json = (body: object) => ({ headers: { "content-type": "application/json" }, bytes: Buffer.from(JSON.stringify(body)) });
const chat = (model: string, more: object = {}) =>
	gate.chat({
		model,
		messages: user("What of tea?"),
		service_parameters: { enable_x_search: true, enable_web_search: "on" },
		...more,
	});

test("the provider's own search is asked for, ours is not made, and each result is paid once", async () => {
	const before = await gate.balance();
	providers.next(json(answerWith([post(1), post(2), post(1)])));
	const answer = (await (await chat("grok")).json()) as ChatCompletion;
	expect(providers.requests.at(-1)?.body).toMatchObject({ tools: [{ type: "x_search" }] });
	expect(search.requests).toEqual([]);
	expect(answer.choices[0]?.message.content).toBe("Tea.");
	expect(answer.choices[0]?.message.annotations).toHaveLength(3);
	expect(answer.service_parameters).not.toHaveProperty("enable_x_search");
	expect(answer.cost.usd).toBe((2 * FEE + TOKENS) / 1e9);
	expect(before - (await gate.balance())).toBe(2 * FEE + TOKENS);
});

test("more than twenty results cost as much as twenty; none cost nothing", async () => {
	const before = await gate.balance();
	providers.next(json(answerWith(Array.from({ length: 30 }, (_, index) => post(index)))), json(answerWith([])));
	await (await chat("grok")).json();
	expect(before - (await gate.balance())).toBe(20 * FEE + TOKENS);
	await (await chat("grok")).json();
	expect(before - (await gate.balance())).toBe(20 * FEE + 2 * TOKENS);
});

test("the hosted tool of chat and of /responses means the same, beside functions of the caller", async () => {
	const tools = [
		{ type: "x_search" },
		{ type: "function", function: { name: "lookup", parameters: { type: "object", properties: {} } } },
	];
	providers.next(json(answerWith([])), json(answerWith([])));
	await (await gate.chat({ model: "grok", messages: user("tea"), tools })).json();
	expect(providers.requests.at(-1)?.body.tools).toMatchObject([{ type: "function", name: "lookup" }, { type: "x_search" }]);
	await (await gate.call("POST", "/responses", { model: "grok", input: "tea", tools: [{ type: "x_search" }] })).json();
	expect(providers.requests.at(-1)?.body.tools).toMatchObject([{ type: "x_search" }]);
});

test("a stream that tells sources is paid by them", async () => {
	const before = await gate.balance();
	const events = [
		{ type: "response.created", response: { ...answerWith([]), output: [], status: "in_progress", usage: null } },
		{
			type: "response.output_item.added",
			output_index: 0,
			item: { type: "message", id: "msg_1", role: "assistant", content: [], status: "in_progress" },
		},
		{ type: "response.output_text.delta", item_id: "msg_1", output_index: 0, content_index: 0, delta: "Tea." },
		{
			type: "response.output_text.annotation.added",
			item_id: "msg_1",
			output_index: 0,
			content_index: 0,
			annotation_index: 0,
			annotation: post(1),
		},
		{ type: "response.completed", response: answerWith([post(1)]) },
	].map((event, sequence_number) => `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number })}\n\n`);
	providers.next({ headers: { "content-type": "text/event-stream" }, bytes: Buffer.from(events.join("")) });
	const { chunks, done } = eventsOf(await (await chat("grok", { stream: true, stream_options: { include_usage: true } })).text());
	expect(done).toBe(true);
	expect(chunks.at(-1)?.cost?.usd).toBe((FEE + TOKENS) / 1e9);
	expect(before - (await gate.balance())).toBe(FEE + TOKENS);
});

test("without the capability it is a 400, and nobody can ask a provider for it behind our back", async () => {
	for (const model of ["plain", "claude"]) {
		const refused = await chat(model);
		expect(refused.status).toBe(400);
		expect(((await refused.json()) as { error: { param: string } }).error.param).toBe("service_parameters.enable_x_search");
	}
	const tools = [{ type: "x_search" }];
	expect((await gate.chat({ model: "plain", messages: user("tea"), tools })).status).toBe(400);
	providers.next(TALK);
	await (await gate.chat({ model: "grok", messages: user("tea"), x_search: true })).json();
	expect(providers.requests.at(-1)?.body).not.toHaveProperty("tools");
});

test("what twenty results cost is held", async () => {
	const poor = await gate.newKey({ creditUsd: "0.15" });
	const asked = providers.requests.length;
	const body = { model: "grok", messages: user("tea"), max_tokens: 10, service_parameters: { enable_x_search: true } };
	expect((await gate.chat(body, { key: poor.secret })).status).toBe(402);
	expect(providers.requests).toHaveLength(asked);
});
