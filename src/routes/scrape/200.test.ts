import { afterAll, beforeAll, expect, test } from "bun:test";
import { type LocalSite, startLocalSite } from "../../../test/support/local-site.ts";
import { type RunningGateway, startGateway } from "../../../test/support/running-gateway.ts";

/** 0.01 USD in nano. */
const PRICE = 10_000_000;
const HTML = { "content-type": "text/html" };
let site: LocalSite;
let gate: RunningGateway;
beforeAll(async () => {
	site = startLocalSite();
	gate = await startGateway({
		config: { limits: { failedRequests: 0, augmentRequestsPerMinute: 10_000 } },
		fetchPublic: site.fetch,
	});
});
afterAll(async () => {
	expect((await gate.audit()).findings).toEqual([]);
	await Promise.all([gate.stop(), site.stop()]);
});

test("gives a page as Markdown for 0.01 USD", async () => {
	site.paths["/a"] = () =>
		new Response(`<html><head><title>Tea</title></head><body><p>About <b>tea</b>.</p></body></html>`, { headers: HTML });
	const before = await gate.balance();
	const answer = await gate.call("POST", "/augment/scrape", { url: "http://site.example/a", format: "pdf" });
	expect(answer.status).toBe(200);
	expect(answer.headers.get("x-ratelimit-limit-requests")).toBe("10000");
	expect(await answer.json()).toEqual({
		url: "http://site.example/a",
		content: "# Tea\n\nAbout **tea**.",
		format: "markdown",
	});
	expect(before - (await gate.balance())).toBe(PRICE);
	expect((await gate.posts()).at(-1)).toMatchObject({ status: 200, price: PRICE, model: null });
});

test("reads documents behind addresses", async () => {
	site.paths["/a.rtf"] = () => new Response("{\\rtf1 A letter\\par}", { headers: { "content-type": "application/rtf" } });
	const answer = await gate.call("POST", "/augment/scrape", { url: "http://site.example/a.rtf" });
	expect(await answer.json()).toMatchObject({ content: "A letter" });
});

test("reads the operator's private hosts where the configuration names them", async () => {
	const own = await startGateway({ config: { web: { allowPrivateHosts: [`127.0.0.1:${site.port}`] } } });
	try {
		site.paths["/inside"] = (request) => new Response(`for ${request.headers.get("user-agent")}`);
		const answer = await own.call("POST", "/augment/scrape", { url: `http://127.0.0.1:${site.port}/inside` });
		expect(((await answer.json()) as { content: string }).content).toMatch(/^for Turnpike\/\d+\.\d+\.\d+$/);
	} finally {
		await own.stop();
	}
});

test("answers each of many at once with its own page, and charges each once", async () => {
	for (let index = 0; index < 40; index += 1)
		site.paths[`/many/${index}`] = () => new Response(`<html><body><p>page ${index}</p></body></html>`, { headers: HTML });
	const before = await gate.balance();
	const answers = await Promise.all(
		Array.from({ length: 40 }, (_, index) => gate.call("POST", "/augment/scrape", { url: `http://site.example/many/${index}` })),
	);
	for (const [index, answer] of answers.entries()) expect(await answer.json()).toMatchObject({ content: `page ${index}` });
	expect(before - (await gate.balance())).toBe(40 * PRICE);
});
