import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type ScriptedSearch, SEARCH_KEY, startScriptedSearch } from "../../../test/support/scripted-search.ts";
import type { Config } from "../../config/index.ts";
import type { Log } from "../../telemetry/log.ts";
import { SearchFault, type SearchProviderName } from "./port.ts";
import { createWebSearch } from "./web-search.ts";

const ALL = ["searxng", "brave", "google", "tavily", "exa"] as const;
let scripted: ScriptedSearch;
let logged: string[];
let nowMs: number;
let settings: Pick<Config["web"], "safeSearch" | "searchMs">;
beforeAll(() => {
	scripted = startScriptedSearch();
});
beforeEach(() => {
	scripted.requests.length = 0;
	scripted.broken.clear();
	scripted.total = 50;
	logged = [];
	nowMs = 0;
	settings = { safeSearch: "moderate", searchMs: 10_000 };
});
afterAll(() => scripted.stop());

const say = (fields: object, message: string) => void logged.push(`${message} ${JSON.stringify(fields)}`);
const log: Log = { debug: say, info: say, warn: say, error: say, level: "debug" };

function searchOver(section: Config["web"]["search"]) {
	const clock = {
		monotonicMs: () => nowMs,
		after(delayMs: number, action: () => void) {
			const timer = setTimeout(action, delayMs);
			return () => clearTimeout(timer);
		},
	};
	return createWebSearch({ config: () => ({ ...settings, search: section }), clock, log });
}
const over = (...order: SearchProviderName[]) => searchOver(scripted.section(order));
const ask = (search: ReturnType<typeof over>, limit = 3, prefer?: SearchProviderName, signal = new AbortController().signal) =>
	search.search({ text: "tea houses", limit, prefer }, signal);
const askedOf = () => scripted.requests.map(({ provider }) => provider);

test.each([...ALL])("%s answers in the one form", async (name) => {
	const { provider, results } = await ask(over(name));
	expect(provider).toBe(name);
	expect(results).toHaveLength(3);
	const content = name === "brave" ? "about <strong>tea</strong>" : name === "google" ? "about <b>tea</b>" : "about tea";
	const date = name === "tavily" ? "" : "2025-01-02T03:04:05";
	expect(results[0]).toEqual({ title: "Tea 0", url: "https://tea.example/0", content, date });
	expect(scripted.requests).toHaveLength(1);
});

test.each(["brave", "google", "tavily", "exa"] as const)("%s tells no key of ours in its results", async (name) => {
	const item = { title: `about ${SEARCH_KEY}`, url: `https://tea.example/?key=${SEARCH_KEY}`, text: SEARCH_KEY };
	const found = { ...item, link: item.url, content: item.text, description: item.text, snippet: item.text };
	scripted.broken.set(name, () => Response.json({ results: [found], web: { results: [found] }, items: [found] }));
	const { results } = await ask(over(name));
	expect(results).toEqual([{ title: "about [secret]", url: "https://tea.example/?key=[secret]", content: "[secret]", date: "" }]);
});

test.each([...ALL])("%s gives as many as are wanted, and no more than there are", async (name) => {
	expect((await ask(over(name), 20)).results).toHaveLength(20);
	scripted.total = 4;
	expect((await ask(over(name), 20)).results).toHaveLength(4);
	scripted.total = 0;
	expect((await ask(over(name), 20)).results).toEqual([]);
});

test("adult results are left out as the operator says", async () => {
	const seen: unknown[] = [];
	for (const safeSearch of ["off", "moderate", "strict"] as const) {
		settings = { ...settings, safeSearch };
		scripted.requests.length = 0;
		for (const name of ["searxng", "brave", "google", "exa"] as const) await ask(over(name));
		seen.push(scripted.requests.map(({ query }) => query.safesearch ?? query.safe ?? query.moderation));
	}
	expect(seen).toEqual([
		["0", "off", "off", false],
		["1", "moderate", "active", true],
		["2", "strict", "active", true],
	]);
});

test("a query of more words than Brave takes is cut for it", async () => {
	const text = "word ".repeat(79).trim();
	const { results } = await over("brave").search({ text, limit: 1 }, new AbortController().signal);
	expect(results).toHaveLength(1);
	expect(String(scripted.requests[0]?.query.q).split(" ")).toHaveLength(50);
});

test("the next one is asked where one fails, whichever way, and the log has neither query nor key", async () => {
	scripted.broken.set("searxng", () => new Response("<html>down</html>", { status: 502 }));
	scripted.broken.set("brave", () => new Response("<html>no JSON</html>"));
	scripted.broken.set("google", () => new Response(null, { status: 302, headers: { location: "http://127.0.0.1/" } }));
	scripted.broken.set("tavily", () => new Promise(() => {}));
	settings = { ...settings, searchMs: 100 };
	expect((await ask(over(...ALL))).provider).toBe("exa");
	expect(askedOf()).toEqual([...ALL]);
	expect(logged).toHaveLength(4);
	expect(logged.join()).not.toMatch(new RegExp(`tea houses|${SEARCH_KEY}`));
});

test("an answer of more values than results have is of no use", async () => {
	const results = [{ title: "t", url: "https://a.example/", content: "c" }];
	scripted.broken.set("searxng", () => Response.json({ results, z: Array.from({ length: 60_000 }, (_, index) => `s${index}`) }));
	expect((await ask(over("searxng", "brave"))).provider).toBe("brave");
});

test("a SearXNG whose engines are all silent has not answered", async () => {
	scripted.broken.set("searxng", () => Response.json({ results: [], unresponsive_engines: [["google", "CAPTCHA"]] }));
	expect((await ask(over("searxng", "exa"))).provider).toBe("exa");
});

test.each(["searxng", "brave", "google", "tavily", "exa"] as const)(
	"an answer without results in it is none: %s",
	async (name) => {
		const next = name === "exa" ? "tavily" : "exa";
		for (const answer of [null, [], 7, "x", { results: {}, items: {}, web: { results: {} } }]) {
			scripted.broken.set(name, () => Response.json(answer));
			expect((await ask(over(name, next))).provider).toBe(next);
		}
	},
);

test("a provider that failed is asked last for half a minute, or as long as it says", async () => {
	const search = over("searxng", "exa");
	scripted.broken.set("searxng", () => new Response("", { status: 500 }));
	await ask(search);
	scripted.broken.clear();
	expect((await ask(search)).provider).toBe("exa");
	nowMs += 30_001;
	expect((await ask(search)).provider).toBe("searxng");
	scripted.broken.set("searxng", () => new Response("", { status: 429, headers: { "retry-after": "120" } }));
	await ask(search);
	scripted.broken.clear();
	nowMs += 100_000;
	expect((await ask(search)).provider).toBe("exa");
	nowMs += 21_000;
	expect((await ask(search)).provider).toBe("searxng");
});

test("the wanted provider goes first where it is set up, else the operator's order holds", async () => {
	expect((await ask(over("searxng", "google"), 3, "google")).provider).toBe("google");
	expect((await ask(over("searxng", "google"), 3, "brave")).provider).toBe("searxng");
});

test("says that none is set up, that all failed, that all are overloaded", async () => {
	const faultOf = async (search: ReturnType<typeof over>) => ask(search).catch((fault) => fault);
	const none = searchOver({ order: [...ALL] });
	expect(none.providers()).toEqual([]);
	expect(await faultOf(none)).toMatchObject({ kind: "not_configured", message: expect.stringContaining("web.search") });
	for (const name of ALL) scripted.broken.set(name, () => new Response("", { status: 401 }));
	const failed = await faultOf(over("brave", "exa"));
	expect(failed).toBeInstanceOf(SearchFault);
	expect(failed).toMatchObject({ kind: "failed" });
	for (const name of ALL) scripted.broken.set(name, () => new Response("", { status: 429 }));
	expect(await faultOf(over("brave", "exa"))).toMatchObject({ kind: "overloaded", retryAfterSeconds: 30 });
});

test("what leads to no page is left out, and tags in titles are too", async () => {
	const results = [
		{ title: "<b>Tea</b>", url: "https://tea.example/", content: "x".repeat(10_000), publishedDate: "yesterday" },
		{ title: "script", url: "javascript:alert(1)" },
		{ title: 7, url: "https://untitled.example/a" },
		{ url: null },
		"no object",
	];
	scripted.broken.set("searxng", () => Response.json({ results }));
	const found = (await ask(over("searxng"), 20)).results;
	expect(found.map(({ title, url, date }) => [title, url, date])).toEqual([
		["Tea", "https://tea.example/", ""],
		["untitled.example", "https://untitled.example/a", ""],
	]);
	expect(found[0]?.content).toHaveLength(8_000);
});

test("an endless answer is let go, and a caller that leaves ends the search", async () => {
	const endless = () => new Response(new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(65_536)) }));
	scripted.broken.set("searxng", endless);
	expect((await ask(over("searxng", "exa"))).provider).toBe("exa");
	const leave = new AbortController();
	scripted.broken.set("searxng", () => {
		leave.abort(new RangeError("left"));
		return new Promise(() => {});
	});
	await expect(ask(over("searxng", "exa"), 3, undefined, leave.signal)).rejects.toThrow("left");
});
