import { expect, test } from "bun:test";
import { PageFault } from "../../engines/web/port.ts";
import { ApiError } from "../../errors/index.ts";
import { SearchFault } from "../../upstreams/search/port.ts";
import { readPages, searchWeb, urlsIn, type WebDeps } from "./web-sources.ts";

const signal = new AbortController().signal;
const nothing = () => Promise.reject(new Error("not part of this test"));
const withSearch = (search: WebDeps["search"]["search"]): WebDeps => ({
	search: { providers: () => ["exa"], search },
	pages: { read: nothing },
});
const withPages = (read: WebDeps["pages"]["read"]): WebDeps => ({
	search: { providers: () => [], search: nothing },
	pages: { read },
});

test("a search gives its results, for a query cut to what a search takes", async () => {
	const seen: string[] = [];
	const result = { title: "Tea", url: "https://tea.example/", content: "about", date: "" };
	const deps = withSearch(async ({ text, limit }) => {
		seen.push(`${text.length} ${limit}`);
		return { provider: "exa", results: [result] };
	});
	expect(await searchWeb(deps, ` tea\n\n${"a".repeat(500)} `, signal)).toEqual([result]);
	expect(await searchWeb(deps, " \n ", signal)).toBeNull();
	expect(seen).toEqual(["400 10"]);
});

test("a search that fails leaves the conversation without results; a caller that leaves ends it", async () => {
	const failing = withSearch(() => Promise.reject(new SearchFault("failed", "down")));
	expect(await searchWeb(failing, "tea", signal)).toBeNull();
	await expect(
		searchWeb(
			withSearch(() => Promise.reject(new RangeError("left"))),
			"tea",
			signal,
		),
	).rejects.toThrow("left");
});

test("reads five pages at most, each once, and says what is wrong with those that fail", async () => {
	const read: string[] = [];
	const deps = withPages(async (url) => {
		read.push(url);
		if (url.endsWith("1")) throw new PageFault("url_private", "a.example is not public");
		if (url.endsWith("2")) throw new ApiError("SERVICE_UNAVAILABLE", { message: "Too many pages wait" });
		return { url, title: "T", content: "c", date: "" };
	});
	const urls = [
		"https://a.example/0",
		"https://a.example/0",
		...Array.from({ length: 9 }, (_, index) => `https://a.example/${index}`),
	];
	const tried = await readPages(deps, urls, { tenant: "test", signal });
	expect(read).toHaveLength(5);
	expect(tried.map(({ page, fault }) => [page?.title ?? null, fault])).toEqual([
		["T", null],
		[null, "a.example is not public"],
		[null, "Too many pages wait"],
		["T", null],
		["T", null],
	]);
});

test.each([
	["see https://a.example/b?c=d#e.", ["https://a.example/b?c=d#e"]],
	[
		"(https://en.example/wiki/Tea_(leaf)) and [x](http://b.example/).",
		["https://en.example/wiki/Tea_(leaf)", "http://b.example/"],
	],
	["<https://a.example/> https://a.example/ **https://b.example/x**", ["https://a.example/", "https://b.example/x"]],
	["HTTPS://A.example/q, no ftp://b.example/ nor example.org", ["HTTPS://A.example/q"]],
	["https:// http://", []],
])("finds the addresses in %p", (text, urls) => expect(urlsIn(text)).toEqual(urls));
