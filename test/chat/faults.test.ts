import { afterAll, beforeAll, expect, test } from "bun:test";
import { deltaText, type ErrorBody, eventsOf, HELLO, pricedModel } from "../support/chat-bodies.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { type Behaviour, type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { until } from "../support/until.ts";

let first: ScriptedUpstream;
let lead: ScriptedUpstream;
let second: ScriptedUpstream;
let gate: RunningGateway;

beforeAll(async () => {
	first = startScriptedUpstream();
	lead = startScriptedUpstream();
	second = startScriptedUpstream();
	const never = { failures: 1_000_000, probeEveryMs: 60_000 };
	gate = await startGateway({
		config: {
			upstreams: {
				first: upstreamEntry(first.url, { health: never }),
				lead: upstreamEntry(lead.url, { health: never }),
				second: upstreamEntry(second.url, { health: never }),
			},
			models: { entries: { alone: pricedModel(["first"]), pair: pricedModel(["lead", "second"]) } },
			limits: { failedRequests: 0 },
			timeouts: { chatFirstByteMs: 1_500, chatIdleMs: 1_500, chatUnaryMs: 3_000, chatStreamTriesMs: 60_000 },
		},
	});
});
afterAll(async () => {
	await gate.stop();
	await first.stop();
	await lead.stop();
	await second.stop();
});

interface Outcome {
	readonly status: number;
	readonly body: ErrorBody;
	readonly cost: number;
}

async function unary(behaviour: Behaviour, model = "alone"): Promise<Outcome> {
	first.next(behaviour);
	const before = await gate.balance();
	const answer = await gate.chat({ model, messages: HELLO });
	return { status: answer.status, body: (await answer.json()) as ErrorBody, cost: before - (await gate.balance()) };
}

const HTML = { raw: "<html><body>Bad gateway</body></html>", headers: { "content-type": "text/html" } };

test.each<[string, Behaviour, number, string]>([
	["HTML with 200", HTML, 500, "INFERENCE_FAILED"],
	["HTML with 502", { ...HTML, status: 502 }, 500, "INFERENCE_FAILED"],
	["500", { status: 500 }, 500, "INFERENCE_FAILED"],
	["broken JSON", { raw: '{"id": "x", "choices": [' }, 500, "INFERENCE_FAILED"],
	["an error body with 200", { raw: '{"error":{"message":"boom"}}' }, 500, "INFERENCE_FAILED"],
	["a redirect", { status: 302, headers: { location: "http://127.0.0.1:1/" } }, 500, "INFERENCE_FAILED"],
	["its own 401", { status: 401, raw: '{"error":{"message":"bad key sk-upstream-secret"}}' }, 503, "MODEL_OFFLINE"],
	["its own 402", { status: 402, raw: '{"error":{"message":"pay your bill"}}' }, 503, "MODEL_OFFLINE"],
	[
		"its own quota",
		{ status: 429, raw: '{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}' },
		503,
		"MODEL_OFFLINE",
	],
	["404", { status: 404 }, 503, "MODEL_OFFLINE"],
	["429", { status: 429 }, 429, "MODEL_OVERLOADED"],
	["400", { status: 400, raw: '{"error":{"message":"temperature is odd"}}' }, 400, "INVALID_REQUEST"],
	["a hang", { hang: true }, 504, "REQUEST_TIMEOUT"],
	["a cut answer", { dieAfterChunks: 0 }, 500, "INFERENCE_FAILED"],
])("an upstream that answers %s costs nothing and gives its error", async (_, behaviour, status, code) => {
	const told = await unary(behaviour);
	expect(told.status).toBe(status);
	expect(told.body.code).toBe(code);
	expect(told.body.error.code).toBe(code);
	expect(told.body.error.message.length).toBeGreaterThan(10);
	expect(told.cost).toBe(0);
	expect(gate.gateway.budgets.holdsOpen).toBe(0);
});

test("the upstream's own account errors never reach the caller", async () => {
	const told = await unary({ status: 401, raw: '{"error":{"message":"Incorrect API key provided: sk-upstream-secret"}}' });
	expect(JSON.stringify(told.body)).not.toContain("upstream-secret");
	expect(JSON.stringify(told.body)).not.toContain("Incorrect API key");
});

test("a stream whose upstream fails before the first event is a normal error", async () => {
	for (const [behaviour, status] of [
		[{ status: 500 }, 500],
		[{ status: 429 }, 429],
		[{ hang: true }, 504],
		[{ errorEventAt: 0 }, 500],
		[{ brokenChunkAt: 0 }, 500],
	] as const) {
		first.next(behaviour);
		const answer = await gate.chat({ model: "alone", messages: HELLO, stream: true });
		expect(answer.status).toBe(status);
		expect(((await answer.json()) as ErrorBody).error.message).toBeString();
	}
	expect(gate.gateway.budgets.holdsOpen).toBe(0);
});

test.each<[string, Behaviour]>([
	["dies", { dieAfterChunks: 3 }],
	["sends a broken chunk", { brokenChunkAt: 3 }],
	["sends an error", { errorEventAt: 3 }],
	["falls silent", { hang: "after-first-chunk", speech: { content: ["Hello, this is some text"] } }],
	["ends without finish_reason and [DONE]", { endAfterChunks: 3 }],
])(
	"a stream whose upstream %s after content ends with an error event, without [DONE], and what was sent is billed",
	async (_, behaviour) => {
		first.next(behaviour);
		const before = await gate.balance();
		const answer = await gate.chat({ model: "alone", messages: HELLO, stream: true, stream_options: { include_usage: true } });
		expect(answer.status).toBe(200);
		const { chunks, done } = eventsOf(await answer.text());
		expect(done).toBe(false);
		const last = chunks.at(-1);
		expect(last?.error?.message).toBeString();
		expect(last?.error?.code).toBeString();
		expect(chunks.some((chunk) => chunk.usage != null)).toBe(false);
		const said = deltaText(chunks.slice(0, -1));
		const cost = before - (await gate.balance());
		if (said === "") expect(cost).toBe(0);
		else expect(cost).toBe(expectedCost(said));
		const posts = (await gate.posts()).filter((post) => post.request_id === answer.headers.get("x-request-id"));
		expect(posts).toHaveLength(said === "" ? 0 : 1);
		expect(gate.gateway.budgets.holdsOpen).toBe(0);
	},
);

/** By the test bed's counter (4 characters a token): the prompt "hello" with its frame, and what was said; no error text. */
function expectedCost(said: string): number {
	const prompt = Math.ceil("hello".length / 4) + 7;
	return prompt * 1000 + Math.ceil(said.length / 4) * 4000;
}

test("until the first data event the next upstream takes over, unary and stream", async () => {
	for (const behaviour of [
		{ status: 500 },
		HTML,
		{ hang: true },
		{ errorEventAt: 0 },
		{ hang: "after-headers" },
	] as Behaviour[]) {
		for (const stream of [false, true]) {
			if (!stream && (behaviour.errorEventAt !== undefined || behaviour.hang !== undefined)) continue;
			lead.next(behaviour);
			const before = second.requests.length;
			const answer = await gate.chat({ model: "pair", messages: HELLO, stream });
			expect(answer.status).toBe(200);
			expect(await answer.text()).toContain("Hello");
			expect(second.requests.length).toBe(before + 1);
			expect([behaviour, stream, answer.headers.get("x-retry-count")]).toEqual([behaviour, stream, "1"]);
		}
	}
});

test("after the first data event no other upstream is asked", async () => {
	lead.next({ dieAfterChunks: 2 });
	const before = second.requests.length;
	const { done } = eventsOf(await (await gate.chat({ model: "pair", messages: HELLO, stream: true })).text());
	expect(done).toBe(false);
	expect(second.requests.length).toBe(before);
});

test("a 400 is the caller's: the next upstream is not asked", async () => {
	lead.next({ status: 400, raw: '{"error":{"message":"no such parameter"}}' });
	const before = second.requests.length;
	const answer = await gate.chat({ model: "pair", messages: HELLO });
	expect(answer.status).toBe(400);
	expect(((await answer.json()) as ErrorBody).error.message).toContain("no such parameter");
	expect(second.requests.length).toBe(before);
});

test("context overflow of an upstream has OpenAI's code", async () => {
	const told = await unary({
		status: 400,
		raw: '{"error":{"message":"This model\'s maximum context length is 8192 tokens","type":"invalid_request_error","code":"context_length_exceeded"}}',
	});
	expect(told.status).toBe(400);
	expect(told.body).toMatchObject({
		code: "TOO_MANY_TOKENS",
		error: { code: "context_length_exceeded", type: "invalid_request_error" },
	});
});

test("an upstream that answers 429 is passed over at once, and left alone for a while", async () => {
	lead.next({ status: 429 });
	const before = second.requests.length;
	for (let count = 0; count < 3; count++) expect((await gate.chat({ model: "pair", messages: HELLO })).status).toBe(200);
	expect(second.requests.length).toBe(before + 3);
});

test("nothing is left open at the upstreams", async () => {
	await until(() => first.open === 0 && lead.open === 0 && second.open === 0, "closed upstream connections");
	expect((await gate.audit()).findings).toEqual([]);
});
