import { afterAll, expect, test } from "bun:test";
import { silentLog } from "../../telemetry/log.ts";
import { PagePool } from "./page-pool.ts";

const pages = new PagePool({ log: silentLog, processes: 1, maxMemoryMb: 2_048, limitMs: 5_000 });
afterAll(() => pages.stop());

const signal = new AbortController().signal;
const page = (text: string) => ({
	bytes: new TextEncoder().encode(text),
	url: "https://site.example/",
	charset: null,
	isHtml: true,
});

test("hostile rules and pages end their process and nothing else", async () => {
	const agents = Array.from({ length: 20_000 }, (_, index) => `User-agent: a${index}\n`).join("");
	const rules = `${agents}${"Disallow: /*a*a*a*a*a*a*a*b\n".repeat(9_000)}`;
	const asked = {
		rules,
		rulesUrl: "https://site.example/robots.txt",
		url: `https://site.example/${"a".repeat(4_000)}`,
		agent: "a1",
	};
	const hostile = pages.isAllowed(asked, { tenant: "test", signal });
	const next = pages.page(page("<title>Tea</title><p>words</p>"), { tenant: "test", signal });
	await expect(hostile).rejects.toMatchObject({ code: "REQUEST_TIMEOUT", status: 504 });
	expect((await next).content).toContain("words");
});

test("rules and addresses are compared without needless escapes", async () => {
	const rules = "User-agent: *\nDisallow: /%70rivate\nDisallow: /~me/\nDisallow: /a%2Fb\n";
	const may = (path: string) =>
		pages.isAllowed(
			{ rules, rulesUrl: "https://site.example/robots.txt", url: `https://site.example${path}`, agent: "Tea" },
			{ tenant: "test", signal },
		);
	for (const path of ["/private", "/%70rivate", "/%7Eme/", "/~%6De/", "/a%2Fb"])
		expect([path, await may(path)]).toEqual([path, false]);
	for (const path of ["/public", "/a/b"]) expect([path, await may(path)]).toEqual([path, true]);
});

test("a caller that leaves ends its page", async () => {
	const leave = new AbortController();
	const reading = pages.page(page("<p>a"), { tenant: "test", signal: leave.signal });
	leave.abort(new RangeError("left"));
	await expect(reading).rejects.toThrow("left");
	expect((await pages.page(page("<p>b"), { tenant: "test", signal })).content).toBe("b");
});
