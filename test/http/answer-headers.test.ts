/** Headers that answers carry: request ids, balances, minute windows, model, compression. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { ManualClock } from "../../src/telemetry/clock.ts";
import { type ChatGateway, chatAnswer, HELLO, MODEL, modelEntry, PRICED_MODEL, startChatGateway } from "./chat-gateway.ts";

const SMALL_TIER = "small-tier-model";
const RETIRING = "retiring-model";
const START = Date.parse("2026-06-01T12:00:00Z");
const clock = new ManualClock(START);

let fixture: ChatGateway;

beforeAll(async () => {
	fixture = await startChatGateway({
		clock,
		config: {
			limits: {
				failedRequests: 0,
				tiers: { tiny: { requestsPerMinute: 3, tokensPerMinute: 1_000, partnerRequestsPerMinute: 30 } },
			},
		},
		models: {
			[SMALL_TIER]: modelEntry({ price: { input: 0, output: 0 }, tier: "tiny", name: "Kleines Mödell" }),
			[RETIRING]: modelEntry({
				price: { input: 0, output: 0 },
				deprecation: {
					autoRemap: false,
					date: "2026-05-01T00:00:00Z",
					removesAt: "2026-09-01T00:00:00Z",
					replacementModelId: MODEL,
				},
			}),
		},
	});
});
afterAll(() => fixture.stop());

const ID = /^[0-9A-Za-z]{32}$/;
const idOf = (answer: Response) => answer.headers.get("x-request-id") ?? "";
const numberOf = (answer: Response, name: string) => Number(answer.headers.get(name) ?? Number.NaN);

test("every answer has a request id of its own, whatever the caller sent for one", async () => {
	const mine = { "x-request-id": "0123456789abcdef0123456789abcdef" };
	const answers = await Promise.all([
		fixture.gate.chat(HELLO, { headers: mine }),
		fixture.gate.chat({ ...HELLO, stream: true }, { headers: mine }),
		fixture.gate.chat({}, { headers: mine }),
		fixture.gate.call("GET", "/models", undefined, mine),
		fixture.gate.call("GET", "/nothing", undefined, mine),
		fixture.gate.call("DELETE", "/models", undefined, mine),
		fixture.gate.call("OPTIONS", "/models", undefined, mine),
		fetch(`${fixture.gate.url}/api/v1/models`, { headers: mine }),
	]);
	const ids = answers.map(idOf);
	for (const id of ids) expect(id).toMatch(ID);
	expect(new Set([...ids, mine["x-request-id"]]).size).toBe(ids.length + 1);
	for (const answer of answers) await answer.body?.cancel();
});

test("the id is the same at the upstream and in the post record", async () => {
	const answer = await fixture.gate.chat(HELLO);
	await answer.body?.cancel();
	expect(fixture.lastSent().headers.get("x-request-id")).toBe(idOf(answer));
	expect((await fixture.gate.posts()).filter((post) => post.request_id === idOf(answer))).toHaveLength(1);
});

test("the version has the form of a build", async () => {
	const answer = await fixture.gate.call("GET", "/nothing");
	expect(answer.headers.get("x-service-version")).toMatch(/^\d{8}\.\d{6}$/);
});

test("balances are those before the request, exact to the nano-dollar", async () => {
	const rich = await fixture.gate.newKey({ creditUsd: "1.5" });
	const priced = { ...HELLO, model: PRICED_MODEL };
	const first = await fixture.gate.chat(priced, { key: rich.secret });
	expect(first.headers.get("x-service-balance-usd")).toMatch(/^\d+\.\d{4,9}$/);
	expect(numberOf(first, "x-service-balance-usd")).toBe(1.5);
	expect(numberOf(first, "x-service-balance-diem")).toBe(0);
	const { cost } = await chatAnswer(first);
	const left = (1.5e9 - Math.round(cost.usd * 1e9)) / 1e9;
	const second = await fixture.gate.chat({ ...priced, stream: true }, { key: rich.secret });
	expect(numberOf(second, "x-service-balance-usd")).toBe(left);
	await second.text();
	const models = await fixture.gate.call("GET", "/models", undefined, { authorization: `Bearer ${rich.secret}` });
	expect(numberOf(models, "x-service-balance-usd")).toBeLessThan(left);
	const refused = await fixture.gate.chat({}, { key: rich.secret });
	expect(refused.headers.get("x-service-balance-usd")).toBe(models.headers.get("x-service-balance-usd"));
	expect((await fetch(`${fixture.gate.url}/api/v1/models`)).headers.get("x-service-balance-usd")).toBeNull();
});

test("the minute window counts down, per account and model, and starts anew after 60 s", async () => {
	const one = await fixture.gate.newKey();
	const other = await fixture.gate.newKey();
	const small = { ...HELLO, model: SMALL_TIER };
	const reset = START / 1000 + 60;
	for (const remaining of [2, 1, 0]) {
		const answer = await fixture.gate.chat(small, { key: one.secret });
		expect(answer.status).toBe(200);
		expect(numberOf(answer, "x-ratelimit-limit-requests")).toBe(3);
		expect(numberOf(answer, "x-ratelimit-remaining-requests")).toBe(remaining);
		expect(numberOf(answer, "x-ratelimit-reset-requests")).toBe(reset);
		expect(numberOf(answer, "x-ratelimit-limit-tokens")).toBe(1_000);
		expect(numberOf(answer, "x-ratelimit-remaining-tokens")).toBeLessThan(1_000);
		expect(numberOf(answer, "x-ratelimit-reset-tokens")).toBe(60);
		expect(answer.headers.get("x-ratelimit-type")).toBe("user");
		await answer.body?.cancel();
	}
	clock.advance(20_000);
	const limited = await fixture.gate.chat(small, { key: one.secret });
	expect(limited.status).toBe(429);
	expect(limited.headers.get("retry-after")).toBe("40");
	expect(limited.headers.get("x-ratelimit-type")).toBe("user");
	expect(numberOf(limited, "x-ratelimit-remaining-requests")).toBe(0);
	expect(numberOf(limited, "x-ratelimit-reset-requests")).toBe(reset);
	for (const [body, key] of [
		[small, other.secret],
		[HELLO, one.secret],
	] as const) {
		const free = await fixture.gate.chat(body, { key });
		expect(free.status).toBe(200);
		await free.body?.cancel();
	}
	clock.advance(40_000);
	const anew = await fixture.gate.chat(small, { key: one.secret });
	expect(anew.status).toBe(200);
	expect(numberOf(anew, "x-ratelimit-remaining-requests")).toBe(2);
	await anew.body?.cancel();
});

test("a partner has the partner's limit", async () => {
	const partner = await fixture.gate.newKey({ changes: { tier: "partner" } });
	const answer = await fixture.gate.chat({ ...HELLO, model: SMALL_TIER }, { key: partner.secret });
	expect(numberOf(answer, "x-ratelimit-limit-requests")).toBe(30);
	expect(numberOf(answer, "x-ratelimit-limit-tokens")).toBe(1_000);
	await answer.body?.cancel();
});

test("tokens count towards the minute: past them a 429, until the window ends", async () => {
	const { secret } = await fixture.gate.newKey();
	const small = { ...HELLO, model: SMALL_TIER };
	const usage = { prompt_tokens: 900, completion_tokens: 200, total_tokens: 1_100 };
	fixture.upstream.next({ usage });
	expect((await fixture.gate.chat(small, { key: secret })).status).toBe(200);
	const limited = await fixture.gate.chat(small, { key: secret });
	expect(limited.status).toBe(429);
	expect(await limited.text()).toContain("1000 tokens");
	expect(numberOf(limited, "x-ratelimit-remaining-tokens")).toBe(0);
	clock.advance(60_000);
	expect((await fixture.gate.chat(small, { key: secret })).status).toBe(200);
});

test("a model without a tier has the default limits, so that the headers always have numbers", async () => {
	const { secret } = await fixture.gate.newKey();
	const answer = await fixture.gate.chat({ ...HELLO, stream: true }, { key: secret });
	expect(numberOf(answer, "x-ratelimit-limit-requests")).toBe(100_000);
	expect(numberOf(answer, "x-ratelimit-remaining-requests")).toBe(99_999);
	expect(numberOf(answer, "x-ratelimit-limit-tokens")).toBe(1_000_000_000);
	await answer.body?.cancel();
});

test("answers that are errors tell the minute window too, once it is known who calls", async () => {
	const { secret } = await fixture.gate.newKey({ creditUsd: "1" });
	const poor = await fixture.gate.newKey();
	const small = { ...HELLO, model: SMALL_TIER };
	expect((await fixture.gate.chat(small, { key: secret })).status).toBe(200);
	const told = async (status: number, answer: Response, [limit, remaining]: readonly [number, number]) => {
		await answer.body?.cancel();
		const window = ["limit", "remaining"].map((name) => numberOf(answer, `x-ratelimit-${name}-requests`));
		expect([answer.status, ...window]).toEqual([status, limit, remaining]);
		expect(numberOf(answer, "x-ratelimit-reset-requests")).toBeGreaterThan(clock.wallMs() / 1000);
	};
	const untouched = [100_000, 100_000] as const;
	const authorization = { authorization: `Bearer ${secret}` };
	await told(400, await fixture.gate.chat({ model: MODEL }, { key: secret }), untouched);
	await told(404, await fixture.gate.chat({ ...HELLO, model: "nobody-has-it" }, { key: secret }), untouched);
	await told(
		415,
		await fixture.gate.call("POST", "/chat/completions", "x", { ...authorization, "content-type": "text/csv" }),
		untouched,
	);
	await told(402, await fixture.gate.chat({ ...HELLO, model: PRICED_MODEL }, { key: poor.secret }), [100_000, 99_999]);
	fixture.upstream.always({ status: 500 });
	await told(500, await fixture.gate.chat(small, { key: secret }), [3, 1]);
	fixture.upstream.always({});
	await told(400, await fixture.gate.call("GET", "/models?type=nothing", undefined, authorization), [300, 300]);
	await told(400, await fixture.gate.call("POST", "/augment/scrape", {}, authorization), [60, 60]);
	const nobody = await fetch(`${fixture.gate.url}/api/v1/chat/completions`, { method: "POST" });
	expect([nobody.status, nobody.headers.get("x-ratelimit-limit-requests")]).toEqual([401, null]);
});

test("the model's headers name id, name and backend, in characters that headers can carry", async () => {
	for (const stream of [false, true]) {
		const answer = await fixture.gate.chat({ ...HELLO, stream, model: `${SMALL_TIER}:strip_thinking_response=true` });
		expect(answer.headers.get("x-service-model-id")).toBe(SMALL_TIER);
		expect(answer.headers.get("x-service-model-name")).toBe("Kleines M?dell");
		expect(answer.headers.get("x-service-model-router")).toBe("scripted");
		expect(answer.headers.get("x-retry-count")).toBeNull();
		await answer.text();
	}
});

test("a model that will be retired says so, and when", async () => {
	const answer = await fixture.gate.chat({ ...HELLO, model: RETIRING });
	expect(answer.status).toBe(200);
	expect(answer.headers.get("x-service-model-deprecation-date")).toBe("2026-05-01T00:00:00Z");
	expect(answer.headers.get("x-service-model-deprecation-warning")).toContain(MODEL);
	await answer.body?.cancel();
});

interface Packed {
	readonly encoding: string | null;
	readonly vary: string | null;
	readonly bytes: Uint8Array;
}

/** An answer as its bytes came over the wire. */
async function packed(path: string, accept: string | null, body?: object): Promise<Packed> {
	const answer = await fetch(`${fixture.gate.url}/api/v1${path}`, {
		method: body === undefined ? "GET" : "POST",
		headers: {
			authorization: `Bearer ${fixture.gate.key}`,
			...(accept === null ? { "accept-encoding": "" } : { "accept-encoding": accept }),
			...(body === undefined ? {} : { "content-type": "application/json" }),
		},
		...(body === undefined ? {} : { body: JSON.stringify(body) }),
		decompress: false,
	});
	return { encoding: answer.headers.get("content-encoding"), vary: answer.headers.get("vary"), bytes: await answer.bytes() };
}

const ENCODINGS: readonly (readonly [accept: string | null, encoding: "br" | "gzip" | null])[] = [
	["gzip, br", "br"],
	["gzip, deflate, br, zstd", "br"],
	["gzip", "gzip"],
	["GZIP;q=0.5", "gzip"],
	["br;q=0, gzip", "gzip"],
	["br;q=0, gzip;q=0", null],
	["deflate", null],
	["identity", null],
	[null, null],
];

test("a whole answer of some size is packed as the caller takes it, br first", async () => {
	const content = ["long ".repeat(1_000)];
	for (const [accept, encoding] of ENCODINGS) {
		fixture.upstream.next({ speech: { content } });
		const chat = await packed("/chat/completions", accept, HELLO);
		const models = await packed("/models?type=all", accept);
		for (const answer of [chat, models]) {
			expect(`${accept}: ${answer.encoding}`).toBe(`${accept}: ${encoding}`);
			expect(answer.vary).toContain("Accept-Encoding");
			const { bytes } = answer;
			const plain =
				encoding === "br" ? brotliDecompressSync(bytes) : encoding === "gzip" ? gunzipSync(bytes) : Buffer.from(bytes);
			expect(JSON.parse(plain.toString("utf8"))).toHaveProperty("object");
		}
	}
});

test("a stream is never packed", async () => {
	fixture.upstream.next({ speech: { content: ["long ".repeat(1_000)] } });
	const answer = await packed("/chat/completions", "gzip, br", { ...HELLO, stream: true });
	expect(answer.encoding).toBeNull();
	expect(new TextDecoder().decode(answer.bytes)).toEndWith("data: [DONE]\n\n");
});

test("a stream says that it is one and that nobody shall keep it", async () => {
	const answer = await fixture.gate.chat({ ...HELLO, stream: true });
	expect(answer.headers.get("content-type")).toBe("text/event-stream");
	expect(answer.headers.get("cache-control")).toBe("no-cache");
	await answer.text();
});
