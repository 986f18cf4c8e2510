import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type RunningGateway, startGateway } from "../../../test/support/running-gateway.ts";
import { type ScriptedSearch, startScriptedSearch } from "../../../test/support/scripted-search.ts";
import { PRICE, send } from "./testing/search.ts";

let scripted: ScriptedSearch;
let gate: RunningGateway;
beforeAll(async () => {
	scripted = startScriptedSearch();
	gate = await startGateway({
		config: { limits: { failedRequests: 0 }, web: { search: scripted.section(["searxng", "brave", "google"]) } },
	});
});
beforeEach(() => {
	scripted.requests.length = 0;
	scripted.broken.clear();
	scripted.total = 50;
});
afterAll(async () => {
	expect((await gate.audit()).findings).toEqual([]);
	await Promise.all([gate.stop(), scripted.stop()]);
});

interface SearchAnswer {
	readonly query: string;
	readonly results: readonly object[];
}

test("gives ten results in the documented form for 0.01 USD", async () => {
	const before = await gate.balance();
	const answer = await send(gate, { query: "tea houses", unknown: true });
	expect(answer.status).toBe(200);
	const { query, results, ...rest } = (await answer.json()) as SearchAnswer;
	expect(rest).toEqual({});
	expect(query).toBe("tea houses");
	expect(results).toHaveLength(10);
	expect(results[0]).toEqual({
		title: "Tea 0",
		url: "https://tea.example/0",
		content: "about <strong>tea</strong>",
		date: "2025-01-02T03:04:05",
	});
	expect(before - (await gate.balance())).toBe(PRICE);
	expect((await gate.posts()).at(-1)).toMatchObject({ status: 200, price: PRICE, model: null });
});

test("gives as many as are asked for", async () => {
	for (const limit of [1, 20])
		expect(((await (await send(gate, { query: "tea", limit })).json()) as SearchAnswer).results).toHaveLength(limit);
});

test("begins with brave where the caller names none, whatever the operator's order", async () => {
	await send(gate, { query: "tea" });
	expect(scripted.requests.at(-1)?.provider).toBe("brave");
});

test("asks the wanted provider first, and the operator's others where it is not set up or fails", async () => {
	await send(gate, { query: "tea", search_provider: "google" });
	expect(scripted.requests.at(-1)?.provider).toBe("google");
	scripted.broken.set("brave", () => new Response("", { status: 500 }));
	expect((await send(gate, { query: "tea", search_provider: "brave" })).status).toBe(200);
	expect(scripted.requests.slice(-2).map(({ provider }) => provider)).toEqual(["brave", "searxng"]);
});

test("no results are an answer too", async () => {
	scripted.total = 0;
	const before = await gate.balance();
	expect(await (await send(gate, { query: "nothing" })).json()).toEqual({ query: "nothing", results: [] });
	expect(before - (await gate.balance())).toBe(PRICE);
});
