/** Searches in conversations: when they run, what the model is told, what the answer tells, what is paid. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type ChatChunk, type ChatCompletion, eventsOf, pricedModel } from "../support/chat-bodies.ts";
import { until } from "../support/until.ts";
import { ANSWER, FEE, startWebFixture, user, type WebFixture } from "./web-fixture.ts";

let fixture: WebFixture;
beforeAll(async () => {
	fixture = await startWebFixture({
		plainWords: pricedModel(["scripted"], { capabilities: { supportsFunctionCalling: false } }),
		offline: pricedModel(["scripted"], { capabilities: { supportsWebSearch: false } }),
		free: pricedModel(["scripted"], { price: { input: 0, output: 0 } }),
		repairing: pricedModel(["scripted"], { responseFormat: "repair" }),
	});
});
beforeEach(async () => {
	fixture.upstream.reset();
	fixture.search.requests.length = 0;
	fixture.search.broken.clear();
	fixture.search.total = 50;
	await fixture.charged();
});
afterAll(async () => {
	expect((await fixture.gate.audit()).findings).toEqual([]);
	expect(fixture.gate.gateway.budgets.holdsOpen).toBe(0);
	await fixture.stop();
});

const QUESTION = user("What of tea?");
const chat = (options: object, more: object = {}, signal?: AbortSignal) =>
	fixture.gate.chat({ model: "priced", messages: QUESTION, service_parameters: options, ...more }, signal ? { signal } : {});
const answerOf = async (response: Promise<Response>) => (await (await response).json()) as ChatCompletion;
const streamOf = async (response: Promise<Response>) => eventsOf(await (await response).text());
const citations = (echo: Readonly<Record<string, unknown>> | undefined) =>
	echo?.web_search_citations as { title: string; url: string; content?: string; date?: string }[];
const asks = (query: string) => ({
	speech: {
		content: [],
		toolCalls: [{ id: "call_1", name: "web_search", arguments: [JSON.stringify({ query })] }],
		finishReason: "tool_calls" as const,
	},
});
/** What a question to the model costs: its answer is one call, or one word. */
const ASKED = 9 * 1_000 + 1 * 4_000;
const FIRST = {
	title: "Tea 0",
	url: "https://tea.example/0",
	content: "about <strong>tea</strong>",
	date: "2025-01-02T03:04:05",
};

test("on: the results stand numbered before the question, the answer names them, and one search is paid", async () => {
	const answer = await answerOf(chat({ enable_web_search: "on" }));
	expect(fixture.search.requests.map(({ query }) => [query.q, query.count])).toEqual([["What of tea?", "10"]]);
	const told = fixture.lastUserText();
	expect(told).toMatch(/begin 1: Tea 0 <https:\/\/tea\.example\/0> 2025-01-02T03:04:05\]\nabout tea\n/);
	expect(told).toContain("begin 10: Tea 9 <https://tea.example/9>");
	expect(told).toEndWith("\n\nWhat of tea?");
	expect(told).not.toContain("^1^");
	expect(fixture.sent().complaints).toEqual([]);
	expect(citations(answer.service_parameters)).toHaveLength(10);
	expect(citations(answer.service_parameters)[0]).toEqual(FIRST);
	expect(answer.service_parameters.enable_web_search).toBe("on");
	expect(answer.cost).toEqual({ usd: (FEE + ANSWER) / 1e9, diem: 0 });
	expect(await fixture.charged()).toBe(FEE + ANSWER);
	expect((await fixture.gate.posts()).at(-1)).toMatchObject({ price: FEE + ANSWER, prompt_tokens: 9, completion_tokens: 4 });
});

test("a stream tells the sources in its first chunk, with what they say where that is asked for", async () => {
	const stream = { stream: true, stream_options: { include_usage: true } };
	const plain = await streamOf(chat({ enable_web_search: "on" }, stream));
	const { content: _, ...short } = FIRST;
	expect(citations(plain.chunks[0]?.service_parameters)[0]).toEqual({ ...short } as typeof FIRST);
	expect(plain.chunks[0]?.choices[0]?.delta).toEqual({ role: "assistant", content: "" });
	expect(plain.chunks.slice(1).some((chunk) => "service_parameters" in chunk)).toBe(false);
	expect(plain.chunks.at(-1)?.cost).toEqual({ usd: (FEE + ANSWER) / 1e9, diem: 0 });
	expect(plain.done).toBe(true);
	const whole = await streamOf(chat({ enable_web_search: "on", include_search_results_in_stream: true }, stream));
	expect(citations(whole.chunks[0]?.service_parameters)[0]).toEqual(FIRST);
	expect(await fixture.charged()).toBe(2 * (FEE + ANSWER));
});

test("where the upstream begins without a choice, the sources come in a chunk of ours", async () => {
	const chunk = (choices: object[]) =>
		JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 5, model: "m", choices });
	const events = [
		chunk([]),
		chunk([{ index: 0, delta: { content: "Hi" } }]),
		chunk([{ index: 0, delta: {}, finish_reason: "stop" }]),
	];
	const raw = [...events, "[DONE]"].map((event) => `data: ${event}\n\n`).join("");
	fixture.upstream.next({ raw, headers: { "content-type": "text/event-stream" } });
	const { chunks, done } = await streamOf(chat({ enable_web_search: "on" }, { stream: true }));
	expect(chunks[0]?.choices[0]?.delta).toEqual({ role: "assistant", content: "" });
	expect(citations(chunks[0]?.service_parameters)).toHaveLength(10);
	expect(new Set(chunks.map(({ id, created }) => `${id} ${created}`)).size).toBe(1);
	expect(done).toBe(true);
	await fixture.charged();
});

test("the model is asked to cite by numbers where that is wanted", async () => {
	await answerOf(chat({ enable_web_search: "on", enable_web_citations: true }));
	expect(fixture.lastUserText()).toContain("like ^1^; several like ^1,3^");
	await answerOf(chat({ enable_web_citations: true }));
	expect(fixture.lastUserText()).toBe("What of tea?");
	expect(await fixture.charged()).toBe(FEE + 2 * ANSWER);
});

test("results as documents are one more call in the message, and finish_reason stays", async () => {
	const options = { enable_web_search: "on", return_search_results_as_documents: true };
	const answer = await answerOf(chat(options));
	const [choice] = answer.choices;
	expect(choice?.finish_reason).toBe("stop");
	const [call] = (choice?.message.tool_calls ?? []) as {
		id: string;
		type: string;
		function: { name: string; arguments: string };
	}[];
	expect(call).toMatchObject({ type: "function", function: { name: "service_web_search_documents" } });
	expect(call?.id).toMatch(/^call_[0-9a-f]{32}$/);
	expect(JSON.parse(call?.function.arguments ?? "")).toEqual({ documents: citations(answer.service_parameters) });
	expect(choice?.message.content).toBe("Hello, world!");

	fixture.upstream.next(asks("x"));
	const { chunks } = await streamOf(chat(options, { stream: true }));
	const calls = chunks.flatMap(
		(chunk) => (chunk.choices[0]?.delta.tool_calls ?? []) as { index: number; id?: string; function: { name?: string } }[],
	);
	expect(calls.filter(({ id }) => id !== undefined).map(({ index, function: { name } }) => [index, name])).toEqual([
		[0, "web_search"],
		[1, "service_web_search_documents"],
	]);
	const places = chunks.map((chunk: ChatChunk) => chunk.choices[0]?.finish_reason ?? null);
	expect(places.filter((reason) => reason !== null)).toEqual(["tool_calls"]);
	expect(places.at(-1)).toBe("tool_calls");

	fixture.search.broken.set("brave", () => new Response("", { status: 500 }));
	expect((await answerOf(chat(options))).choices[0]?.message.tool_calls).toBeUndefined();
	await fixture.charged();
});

test("searched is for the latest message of the user, cut to 400 characters; one that says nothing is not", async () => {
	const words = "teatime ".repeat(300);
	const messages = [...user("first"), { role: "assistant", content: "Yes." }, ...user([{ type: "text", text: words }])];
	await answerOf(chat({ enable_web_search: "on" }, { messages }));
	expect(String(fixture.search.requests[0]?.query.q)).toBe(words.slice(0, 400).trim());
	const sent = fixture.sent().body.messages as { content: { text: string }[] | string }[];
	expect(sent[0]?.content).toBe("first");
	expect(sent[2]?.content).toHaveLength(2);
	const silent = user([{ type: "image_url", image_url: { url: "https://img.example/a.png" } }]);
	await answerOf(chat({ enable_web_search: "on" }, { messages: silent }));
	expect(fixture.search.requests).toHaveLength(1);
	expect(await fixture.charged()).toBe(FEE + 2 * ANSWER);
});

test("a search that fails costs nothing, and the answer goes on without", async () => {
	fixture.search.broken.set("brave", () => new Response("", { status: 500 }));
	const answer = await answerOf(chat({ enable_web_search: "on" }));
	expect(answer.choices[0]?.message.content).toBe("Hello, world!");
	expect(citations(answer.service_parameters)).toEqual([]);
	expect(fixture.lastUserText()).toBe("What of tea?");
	const { chunks } = await streamOf(chat({ enable_web_search: "on" }, { stream: true }));
	expect(chunks.some((chunk) => "service_parameters" in chunk)).toBe(false);
	const { chunks: wanted } = await streamOf(
		chat({ enable_web_search: "on", include_search_results_in_stream: true }, { stream: true }),
	);
	expect(citations(wanted[0]?.service_parameters)).toEqual([]);
	expect(await fixture.charged()).toBe(3 * ANSWER);
});

test("a search that finds nothing is told and paid", async () => {
	fixture.search.total = 0;
	const answer = await answerOf(chat({ enable_web_search: "on" }));
	expect(citations(answer.service_parameters)).toEqual([]);
	expect(fixture.lastUserText()).toBe("A search of the web found nothing.\n\nWhat of tea?");
	expect(await fixture.charged()).toBe(FEE + ANSWER);
});

test("a request that fails costs nothing, whatever ran for it", async () => {
	fixture.upstream.next({ status: 500 }, asks("tea"), { status: 500 });
	expect((await chat({ enable_web_search: "on" })).status).toBe(500);
	expect((await chat({ enable_web_search: "auto" })).status).toBe(500);
	expect(fixture.search.requests).toHaveLength(2);
	expect(await fixture.charged()).toBe(0);
});

test("who cannot pay for a search has none made", async () => {
	const poor = await fixture.gate.newKey({ creditUsd: "0.009" });
	const body = { model: "priced", messages: QUESTION, max_tokens: 5, service_parameters: { enable_web_search: "on" } };
	expect((await fixture.gate.chat(body, { key: poor.secret })).status).toBe(402);
	expect(fixture.search.requests).toHaveLength(0);
	const enough = await fixture.gate.newKey({ creditUsd: "0.02" });
	expect((await fixture.gate.chat(body, { key: enough.secret })).status).toBe(200);
	expect(await fixture.gate.balance(enough.accountId)).toBe(20_000_000 - FEE - ANSWER);
	expect(fixture.search.requests).toHaveLength(1);
});

test("of a free model the search alone is paid", async () => {
	const answer = await answerOf(chat({ enable_web_search: "on" }, { model: "free" }));
	expect(answer.cost.usd).toBe(0.01);
	expect(await fixture.charged()).toBe(FEE);
});

test("auto: the model's call of a tool says what is searched for; both calls and the search are paid", async () => {
	fixture.upstream.next(asks("tea prices today"));
	const answer = await answerOf(chat({ enable_web_search: "auto" }));
	const [question] = fixture.upstream.requests;
	expect(question?.body).toMatchObject({ tool_choice: "auto", max_tokens: 200, tools: [{ function: { name: "web_search" } }] });
	expect(question?.complaints).toEqual([]);
	expect(fixture.search.requests.map(({ query }) => query.q)).toEqual(["tea prices today"]);
	expect(fixture.sent().body).not.toHaveProperty("tools");
	expect(answer.usage).toMatchObject({ prompt_tokens: 18, completion_tokens: 5, total_tokens: 23 });
	expect(answer.service_parameters.enable_web_search).toBe("auto");
	expect(citations(answer.service_parameters)).toHaveLength(10);
	expect(await fixture.charged()).toBe(FEE + ASKED + ANSWER);
});

test("auto: a model that says none searches nothing; streamed it is the same", async () => {
	fixture.upstream.next({ speech: { content: ["none"] } }, {}, { speech: { content: ["none"] } });
	const answer = await answerOf(chat({ enable_web_search: "auto" }));
	expect(citations(answer.service_parameters)).toEqual([]);
	const { chunks, done } = await streamOf(
		chat({ enable_web_search: "auto" }, { stream: true, stream_options: { include_usage: true } }),
	);
	expect(done).toBe(true);
	expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 18, completion_tokens: 5 });
	expect(fixture.search.requests).toEqual([]);
	expect(fixture.lastUserText()).toBe("What of tea?");
	expect(await fixture.charged()).toBe(2 * (ASKED + ANSWER));
});

test("auto: a model without functions answers with a line", async () => {
	fixture.upstream.next({ speech: { content: ["**Search: tea of today**"] } }, {}, { speech: { content: ["I am not sure."] } });
	await answerOf(chat({ enable_web_search: "auto" }, { model: "plainWords" }));
	expect(fixture.upstream.requests[0]?.body).not.toHaveProperty("tools");
	expect(fixture.search.requests.map(({ query }) => query.q)).toEqual(["tea of today**"]);
	await answerOf(chat({ enable_web_search: "auto" }, { model: "plainWords" }));
	expect(fixture.search.requests).toHaveLength(1);
	expect(await fixture.charged()).toBe(FEE + 2 * (ASKED + ANSWER));
});

test("auto: a question that fails costs nothing, and the chat goes on; where no usage comes it is counted", async () => {
	fixture.upstream.next({ status: 400 });
	await answerOf(chat({ enable_web_search: "auto" }));
	expect(fixture.search.requests).toEqual([]);
	expect(await fixture.charged()).toBe(ANSWER);
	fixture.upstream.next({ ...asks("tea"), usage: "never" });
	const { usage } = await answerOf(chat({ enable_web_search: "auto" }));
	expect(usage.prompt_tokens).toBeGreaterThan(100);
	expect(await fixture.charged()).toBe(FEE + usage.prompt_tokens * 1_000 + usage.completion_tokens * 4_000);
});

test("without the capability `on` is refused and `auto` acts as off", async () => {
	const refused = await chat({ enable_web_search: "on" }, { model: "offline" });
	expect(refused.status).toBe(400);
	expect(((await refused.json()) as { error: { param: string } }).error.param).toBe("service_parameters.enable_web_search");
	const answer = await answerOf(chat({ enable_web_search: "auto" }, { model: "offline" }));
	expect(answer.service_parameters.enable_web_search).toBe("off");
	expect(fixture.upstream.requests).toHaveLength(1);
	expect(await fixture.charged()).toBe(ANSWER);
});

test("the hosted tool means auto on every route, unless an option says otherwise", async () => {
	const tools = [{ type: "web_search" }];
	fixture.upstream.next(asks("one"), {}, asks("two"), {}, asks("three"));
	await answerOf(chat({}, { tools }));
	await fixture.gate.call("POST", "/responses", { model: "priced", input: "What of tea?", tools });
	const hosted = [{ type: "web_search_20250305", name: "web_search" }];
	await fixture.gate.call("POST", "/messages", { model: "priced", max_tokens: 50, messages: QUESTION, tools: hosted });
	expect(fixture.search.requests.map(({ query }) => query.q)).toEqual(["one", "two", "three"]);
	expect(fixture.upstream.requests).toHaveLength(6);
	await answerOf(chat({ enable_web_search: "off" }, { tools }));
	expect(fixture.upstream.requests).toHaveLength(7);
	await fixture.gate.call("POST", "/responses", {
		model: "priced",
		input: "tea now",
		tools,
		tool_choice: { type: "web_search" },
	});
	expect(fixture.search.requests.at(-1)?.query.q).toBe("tea now");
	expect(await fixture.charged()).toBe(4 * FEE + 3 * ASKED + 5 * ANSWER);
});

test("/responses tells the search as an item, and citations as annotations at their place", async () => {
	const speech = { content: ["Tea", " is", " good.^1,", "3^ Or", " not.^99^"] };
	const body = { model: "priced", input: "What of tea?", web_search: true, service_parameters: { enable_web_citations: true } };
	fixture.upstream.next({ speech }, { speech });
	const whole = (await (await fixture.gate.call("POST", "/responses", body)).json()) as {
		output: { type: string; id: string; content?: { text: string; annotations: object[] }[] }[];
		service_parameters: Record<string, unknown>;
	};
	expect(whole.output.map(({ type }) => type)).toEqual(["web_search_call", "message"]);
	const annotation = { type: "url_citation", start_index: 12, end_index: 17 };
	const annotations = [
		{ ...annotation, url: "https://tea.example/0", title: "Tea 0" },
		{ ...annotation, url: "https://tea.example/2", title: "Tea 2" },
	];
	expect(whole.output[1]?.content?.[0]).toMatchObject({ text: "Tea is good.^1,3^ Or not.^99^", annotations });
	expect(citations(whole.service_parameters)[0]).toEqual(FIRST);
	const events = (await (await fixture.gate.call("POST", "/responses", { ...body, stream: true })).text())
		.split("\n\n")
		.filter((event) => event !== "")
		.map((event) => JSON.parse(event.slice(event.indexOf("data: ") + 6)) as Record<string, unknown>);
	const added = events.filter(({ type }) => type === "response.output_item.added");
	expect(added.map(({ output_index, item }) => [output_index, (item as { type: string }).type])).toEqual([
		[0, "web_search_call"],
		[1, "message"],
	]);
	expect(citations((events[0]?.response as typeof whole | undefined)?.service_parameters)[0]).not.toHaveProperty("content");
	const last = events.at(-1)?.response as typeof whole | undefined;
	expect(last?.output[1]?.content?.[0]?.annotations).toEqual(annotations);
	expect(await fixture.charged()).toBe(2 * (FEE + 9 * 1_000 + 5 * 4_000));
});

test("/messages tells its sources at its beginning and its end", async () => {
	const body = { model: "priced", max_tokens: 50, messages: QUESTION, service_parameters: { enable_web_search: "on" } };
	const whole = (await (await fixture.gate.call("POST", "/messages", body)).json()) as {
		service_parameters: Record<string, unknown>;
	};
	expect(citations(whole.service_parameters)[0]).toEqual(FIRST);
	const text = await (await fixture.gate.call("POST", "/messages", { ...body, stream: true })).text();
	const [start] = text.split("\n\n");
	expect(start).toContain('"web_search_citations":[{"title":"Tea 0","url":"https://tea.example/0","date"');
	expect(await fixture.charged()).toBe(2 * (FEE + ANSWER));
});

test("/messages: a choice of the search means that it has to be searched", async () => {
	const search = { type: "web_search_20250305", name: "web_search" };
	const own = { name: "f", input_schema: { type: "object" } };
	for (const [tools, tool_choice] of [
		[[search], { type: "tool", name: "web_search" }],
		[[search], { type: "any" }],
		[[own, search], { type: "tool", name: "web_search" }],
	]) {
		fixture.search.requests.length = 0;
		const answer = await fixture.gate.call("POST", "/messages", {
			model: "priced",
			max_tokens: 50,
			messages: QUESTION,
			tools,
			tool_choice,
		});
		expect([answer.status, fixture.search.requests.length, fixture.sent().body.tool_choice]).toEqual([200, 1, undefined]);
		expect(fixture.sent().complaints).toEqual([]);
	}
});

test("an answer that is asked for twice pays its search once", async () => {
	fixture.upstream.next({ speech: { content: ["no JSON"] } }, { speech: { content: ['{"a":1}'] } });
	const format = { response_format: { type: "json_object" }, model: "repairing" };
	const answer = await answerOf(chat({ enable_web_search: "on" }, format));
	expect(answer.choices[0]?.message.content).toBe('{"a":1}');
	expect(fixture.upstream.requests.map(({ text }) => text.includes("begin 1: Tea 0"))).toEqual([true, true]);
	expect(await fixture.charged()).toBe(FEE + 2 * (9 * 1_000 + 4_000));
	fixture.upstream.next({ speech: { content: ["no JSON"] } }, { speech: { content: ["no JSON"] } });
	expect((await chat({ enable_web_search: "on" }, format)).status).toBe(500);
	expect(await fixture.charged()).toBe(FEE + 2 * (9 * 1_000 + 4_000));
});

test("a caller that leaves stops the search and pays nothing; the question to the model it pays", async () => {
	const searching = Promise.withResolvers<void>();
	fixture.search.broken.set("brave", () => {
		searching.resolve();
		return new Promise(() => {});
	});
	const leave = new AbortController();
	const asked = chat({ enable_web_search: "on" }, {}, leave.signal).catch(() => null);
	await searching.promise;
	leave.abort();
	await asked;
	await until(() => fixture.gate.gateway.budgets.holdsOpen === 0, "the end of the hold");
	expect(await fixture.charged()).toBe(0);

	for (const behaviour of [{ hang: true }, { ...asks("tea") }] as const) {
		const again = new AbortController();
		const posts = (await fixture.gate.posts()).length;
		const reached = fixture.search.requests.length;
		fixture.upstream.next(behaviour);
		const left = chat({ enable_web_search: "auto" }, {}, again.signal).catch(() => null);
		const seen = fixture.upstream.requests.length;
		await until(
			() => ("hang" in behaviour ? fixture.upstream.open > 0 && seen >= 0 : fixture.search.requests.length > reached),
			"the question",
		);
		again.abort();
		await left;
		await until(async () => (await fixture.gate.posts()).length === posts + 1, "the post");
		const post = (await fixture.gate.posts()).at(-1);
		expect(post).toMatchObject({ status: 499, upstream: "scripted" });
		const { prompt_tokens, completion_tokens } = post ?? {};
		expect(await fixture.charged()).toBe((prompt_tokens ?? 0) * 1_000 + (completion_tokens ?? 0) * 4_000);
		expect(prompt_tokens).toBeGreaterThan(0);
	}
});
