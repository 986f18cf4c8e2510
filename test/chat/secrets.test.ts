import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ErrorBody, eventsOf, HELLO, pricedModel } from "../support/chat-bodies.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { type Behaviour, type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { until } from "../support/until.ts";

const KEY = "sk-upstream-SECRET-0001";
const HEADER = "organisation-secret-0002";
let upstream: ScriptedUpstream;
let gate: RunningGateway;

beforeAll(async () => {
	upstream = startScriptedUpstream();
	gate = await startGateway({
		config: {
			upstreams: { scripted: upstreamEntry(upstream.url, { key: KEY, headers: { "X-Secret": `Token ${HEADER}` } }) },
			models: { entries: { priced: pricedModel(["scripted"]) } },
			limits: { failedRequests: 0 },
		},
	});
});
afterAll(async () => {
	await gate.stop();
	await upstream.stop();
});

const quoting = { error: { message: `bad header Authorization: Bearer ${KEY} X-Secret: Token ${HEADER}`, code: 400 } };
const BODY = JSON.stringify(quoting);

test.each<[string, Behaviour]>([
	["with 400", { status: 400, raw: BODY }],
	["with 422", { status: 422, raw: BODY }],
	["with 500", { status: 500, raw: BODY }],
	["inside a 200", { raw: BODY }],
	["as the first event", { errorEventAt: 0, errorEvent: quoting }],
	["in the middle of a stream", { errorEventAt: 2, errorEvent: quoting }],
])("an upstream that quotes our key %s tells the caller nothing of it", async (_, behaviour) => {
	for (const stream of [false, true]) {
		upstream.next(behaviour);
		const text = await (await gate.chat({ model: "priced", messages: HELLO, stream })).text();
		expect(text).not.toContain("SECRET-0001");
		expect(text).not.toContain(HEADER);
		upstream.reset();
	}
});

test("a secret where a long error is cut is not told in part", async () => {
	for (let before = 1_960; before < 2_000; before += 3) {
		upstream.next({ status: 400, raw: JSON.stringify({ error: { message: `${"x ".repeat(before / 2)}${HEADER}` } }) });
		const text = await (await gate.chat({ model: "priced", messages: HELLO })).text();
		expect(text).toContain("x x");
		expect(text).not.toContain(HEADER.slice(0, 4));
	}
});

test.each([false, true])("an answer that repeats our key comes without it, streamed: %p", async (stream) => {
	const content = ["Your header was ", `Bearer ${KEY}`, ` and Token ${HEADER}`, " at last"];
	upstream.next({ speech: { content } });
	const text = await (await gate.chat({ model: "priced", messages: HELLO, stream })).text();
	expect(text).toContain("Your header was ");
	expect(text).toContain("at last");
	expect(text).toContain("Bearer [secret]");
	expect(text).not.toContain("SECRET-0001");
	expect(text).not.toContain(HEADER);
});

test.each([
	["in two pieces", [`Bearer ${KEY.slice(0, 15)}`, KEY.slice(15)]],
	["letter by letter", ["Bearer ", ...KEY]],
	["with another one behind it", ["Bearer ", KEY.slice(0, 9), `${KEY.slice(9)} ${KEY.slice(0, 8)}`, KEY.slice(8)]],
])("a stream that says our key %s does not tell it", async (_, content) => {
	upstream.next({ speech: { content: [...content, " at last"] } });
	const answer = await gate.chat({ model: "priced", messages: HELLO, stream: true });
	const said = eventsOf(await answer.text()).chunks.map((chunk) => chunk.choices[0]?.delta?.content ?? "");
	expect(said.join("")).toMatch(/^Bearer (sk-up)?\[secret\]( \[secret\])? at last$/);
});

/** Escaped as JSON may have it. */
const escaped = (text: string) => [...text].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
const chunkOf = (members: string, more = "") =>
	`data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"scripted","choices":[{"index":0,"delta":{${members}},"finish_reason":null}]${more}}\n\n`;
const ENDS = 'data: {"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';

test.each([
	["in escapes", [...KEY].map((letter) => chunkOf(`"content":"${escaped(letter)}"`))],
	[
		"with a usage in each event",
		[...KEY].map((letter, index) =>
			chunkOf(`"content":"${letter}"`, `,"usage":{"prompt_tokens":1,"completion_tokens":${index},"total_tokens":${index + 1}}`),
		),
	],
	["with another time in each event", [...KEY].map((letter, index) => chunkOf(`"content":"${letter}"`, `,"created":${index}`))],
	["with other members in each event", [...KEY].map((letter, index) => chunkOf(`"content":"${letter}","x${index}":${index}`))],
	["between thoughts", [...KEY].flatMap((letter) => [chunkOf(`"content":"${letter}"`), chunkOf('"reasoning_content":"a"')])],
	[
		"as thoughts between words",
		[...KEY].flatMap((letter) => [chunkOf(`"reasoning_content":"${letter}"`), chunkOf('"content":"a"')]),
	],
	["in lists of parts", [...KEY].map((letter) => chunkOf(`"content":[{"type":"text","text":"${letter}"}]`))],
	[
		"in pieces that its provider wants back",
		[...KEY].map((letter) => chunkOf(`"reasoning_details":[{"type":"reasoning.text","index":0,"text":"${letter}"}]`)),
	],
	[
		"in two choices at once",
		[...KEY].map(
			(letter) =>
				`data: ${JSON.stringify({ id: "x", choices: [0, 1].map((index) => ({ index, delta: { content: letter }, finish_reason: null })) })}\n\n`,
		),
	],
	["up to the event that ends it", [...KEY.slice(0, -1)].map((letter, index) => chunkOf(`"content":"${letter}","x${index}":1`))],
])("a stream that says our key letter by letter %s does not tell it", async (_, events) => {
	upstream.next({ raw: `${events.join("")}${ENDS}`, headers: { "content-type": "text/event-stream" } });
	const answer = await gate.chat({ model: "priced", messages: HELLO, n: 2, stream: true, max_tokens: 1_000 });
	const { chunks, done } = eventsOf(await answer.text());
	expect(done).toBe(true);
	const texts = new Map<string, string>();
	const gather = (value: unknown, key: string): void => {
		if (typeof value === "string") texts.set(key, (texts.get(key) ?? "") + value);
		else if (typeof value === "object" && value !== null)
			for (const [name, inner] of Object.entries(value)) gather(inner, `${key} ${name}`);
	};
	for (const { choices } of chunks) for (const choice of choices) gather(choice.delta, String(choice.index));
	for (const text of texts.values()) expect(text).not.toContain(KEY);
	if (events.length >= KEY.length) expect([...texts.values()].some((text) => text.includes("[secret]"))).toBe(true);
	// What is no secret all the same is told to its end.
	else expect([...texts.values()]).toContain(KEY.slice(0, -1));
});

test("words that begin like our key over and over wait for no other words", async () => {
	const beginning = KEY.slice(0, -3);
	upstream.next({
		raw: `${chunkOf(`"content":"${beginning}"`).repeat(200)}${ENDS}`,
		headers: { "content-type": "text/event-stream" },
	});
	const answer = await gate.chat({ model: "priced", messages: HELLO, stream: true, max_tokens: 10_000 });
	const said = eventsOf(await answer.text()).chunks.map((chunk) => chunk.choices[0]?.delta?.content ?? "");
	expect(said.join("")).toBe(beginning.repeat(200));
	expect(Math.max(...said.map((text) => String(text).length))).toBeLessThanOrEqual(2 * KEY.length);
});

test("a stream whose words begin like our key says all of them", async () => {
	for (const content of [
		["sk-upstream", "-SECRET"],
		["sk-upstream-S", "ECOND", " word"],
		["sk-up", "stream-SEC"],
	]) {
		upstream.next({ speech: { content } });
		const answer = await gate.chat({ model: "priced", messages: HELLO, stream: true });
		const { chunks, done } = eventsOf(await answer.text());
		expect(chunks.map((chunk) => chunk.choices[0]?.delta?.content ?? "").join("")).toBe(content.join(""));
		expect(done).toBe(true);
	}
});

test("an answer that repeats our key in escapes comes without it", async () => {
	const written = KEY.replaceAll("S", "\\u0053");
	for (const stream of [false, true]) {
		const choice = `{"index":0,"finish_reason":"stop","${stream ? "delta" : "message"}":{"role":"assistant","content":"${written}"}}`;
		const body = `{"id":"x","object":"chat.completion","created":1,"model":"scripted","choices":[${choice}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`;
		upstream.next(
			stream ? { raw: `data: ${body}\n\ndata: [DONE]\n\n`, headers: { "content-type": "text/event-stream" } } : { raw: body },
		);
		const text = await (await gate.chat({ model: "priced", messages: HELLO, stream })).text();
		expect(text).toContain("[secret]");
		expect(text).not.toContain("u0053");
	}
});

test("words about money in a refusal that quotes the prompt stay a refusal, and do not put the upstream out", async () => {
	const messages = [{ role: "user", content: "What does 'insufficient funds' mean? Is my api key invalid?" }];
	for (let count = 0; count < 6; count++) {
		upstream.next({ status: 400, raw: JSON.stringify({ error: { message: `cannot take: ${messages[0]?.content}` } }) });
		const answer = await gate.chat({ model: "priced", messages });
		expect(answer.status).toBe(400);
		expect(((await answer.json()) as ErrorBody).code).toBe("INVALID_REQUEST");
	}
	expect((await gate.chat({ model: "priced", messages })).status).toBe(200);
});

test("what an answer cost the operator is not told", async () => {
	upstream.next({
		usage: {
			prompt_tokens: 5,
			completion_tokens: 2,
			total_tokens: 7,
			cost: 0.123,
			cost_details: { upstream_inference_cost: 0.1 },
		},
	});
	const text = await (await gate.chat({ model: "priced", messages: HELLO })).text();
	expect(text).not.toContain("0.123");
	expect(JSON.parse(text).usage).toEqual({ prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 });
});

test("usage that no context can hold is not believed: what was said is counted", async () => {
	const before = await gate.balance();
	upstream.next({ usage: { prompt_tokens: 9, completion_tokens: 123_456_789, total_tokens: 123_456_798 } });
	expect((await gate.chat({ model: "priced", messages: HELLO, max_tokens: 10 })).status).toBe(200);
	expect(before - (await gate.balance())).toBeLessThan(100_000);
});

test("an answer that nests too deeply to be passed on is the upstream's failure, and free", async () => {
	const deep = `${"[".repeat(5_000)}${"]".repeat(5_000)}`;
	upstream.next({
		raw: `{"id":"x","object":"chat.completion","created":1,"model":"scripted","choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2},"deep":${deep}}`,
	});
	const before = await gate.balance();
	expect((await gate.chat({ model: "priced", messages: HELLO })).status).toBe(500);
	expect(await gate.balance()).toBe(before);
});

test("usage that came early does not hide what was said after it, where the caller leaves", async () => {
	let release: () => void = () => {};
	const words = Array.from({ length: 40 }, (_, index) => `word number ${index} `);
	upstream.next({
		usage: "every-chunk",
		speech: { content: ["first ", words.join(""), "last"] },
		chunkDelayMs: 400,
		beforeSecondChunk: new Promise<void>((resolve) => (release = resolve)),
	});
	const count = (await gate.posts()).length;
	const abort = new AbortController();
	const answer = await gate.chat({ model: "priced", messages: HELLO, stream: true }, { signal: abort.signal });
	release();
	const reader = answer.body?.getReader();
	let text = "";
	while (!text.includes("number 39")) text += new TextDecoder().decode((await reader?.read())?.value);
	abort.abort();
	await until(async () => (await gate.posts()).length > count, "the post");
	expect((await gate.posts()).at(-1)?.completion_tokens).toBeGreaterThan(50);
});
