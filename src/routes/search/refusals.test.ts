import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type RunningGateway, startGateway } from "../../../test/support/running-gateway.ts";
import { type ScriptedSearch, startScriptedSearch } from "../../../test/support/scripted-search.ts";
import { codeOf, send } from "./testing/search.ts";

let scripted: ScriptedSearch;
let gate: RunningGateway;
beforeAll(async () => {
	scripted = startScriptedSearch();
	gate = await startGateway({
		config: {
			limits: { failedRequests: 0, augmentRequestsPerMinute: 4 },
			web: { search: scripted.section(["brave", "exa"]) },
		},
	});
});
beforeEach(() => {
	scripted.broken.clear();
	scripted.requests.length = 0;
});
afterAll(() => Promise.all([gate.stop(), scripted.stop()]));

const as = (key: string) => ({ authorization: `Bearer ${key}` });

test.each([
	["query", {}],
	["query", { query: "" }],
	["query", { query: "  \n" }],
	["query", { query: "a".repeat(401) }],
	["query", { query: 7 }],
	["limit", { query: "tea", limit: 0 }],
	["limit", { query: "tea", limit: 21 }],
	["limit", { query: "tea", limit: 1.5 }],
	["limit", { query: "tea", limit: "10" }],
	["search_provider", { query: "tea", search_provider: "exa" }],
])("400 for a wrong %s, which is not clamped: %p", async (field, body) => {
	const answer = await send(gate, body);
	expect(answer.status).toBe(400);
	expect(await answer.json()).toMatchObject({ code: "INVALID_REQUEST", issues: [{ path: [field] }], details: { [field]: {} } });
	expect(scripted.requests).toEqual([]);
});

test("401 without a key", async () => {
	expect((await send(gate, { query: "tea" }, as("not-a-key"))).status).toBe(401);
});

test("402 for an account without funds, before anybody is asked", async () => {
	const poor = await gate.newKey({ creditUsd: "0.009" });
	const answer = await send(gate, { query: "tea" }, as(poor.secret));
	expect(answer.status).toBe(402);
	expect(await codeOf(answer)).toBe("INSUFFICIENT_BALANCE");
	expect(scripted.requests).toEqual([]);
});

test("415 for a body that is not declared as JSON", async () => {
	const answer = await send(gate, '{"query":"tea"}', { "content-type": "text/plain" });
	expect(answer.status).toBe(415);
	expect(await codeOf(answer)).toBe("INVALID_CONTENT_TYPE");
});

test("429 past the minute's searches of the account", async () => {
	const rich = await gate.newKey({ creditUsd: "1" });
	for (let search = 0; search < 4; search += 1) expect((await send(gate, { query: "tea" }, as(rich.secret))).status).toBe(200);
	const answer = await send(gate, { query: "tea" }, as(rich.secret));
	expect(answer.status).toBe(429);
	expect(await codeOf(answer)).toBe("RATE_LIMIT_EXCEEDED");
	expect(await gate.balance(rich.accountId)).toBe(960_000_000);
});

test("500 where every provider fails, 429 where all are overloaded; neither costs anything", async () => {
	const rich = await gate.newKey({ creditUsd: "1" });
	scripted.broken.set("brave", () => new Response("", { status: 500 }));
	scripted.broken.set("exa", () => new Response("no JSON"));
	const failed = await send(gate, { query: "tea" }, as(rich.secret));
	expect(failed.status).toBe(500);
	expect(await failed.json()).toMatchObject({ code: "INFERENCE_FAILED", error: "No search provider gave an answer; try again" });
	for (const name of ["brave", "exa"]) scripted.broken.set(name, () => new Response("", { status: 429 }));
	const busy = await send(gate, { query: "tea" }, as(rich.secret));
	expect(busy.status).toBe(429);
	expect(busy.headers.get("retry-after")).toBe("30");
	expect(await codeOf(busy)).toBe("MODEL_OVERLOADED");
	expect(await gate.balance(rich.accountId)).toBe(1_000_000_000);
});

test("503 where no provider is set up, naming the setting", async () => {
	const bare = await startGateway();
	try {
		const answer = await send(bare, { query: "tea" });
		expect(answer.status).toBe(503);
		expect(await answer.json()).toMatchObject({ code: "SERVICE_UNAVAILABLE", error: expect.stringContaining("web.search") });
		expect(await bare.posts()).toEqual([]);
	} finally {
		await bare.stop();
	}
});
