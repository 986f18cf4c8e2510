import { afterAll, beforeAll, expect, test } from "bun:test";
import { type LocalSite, startLocalSite } from "../../../test/support/local-site.ts";
import { type RunningGateway, startGateway } from "../../../test/support/running-gateway.ts";

let site: LocalSite;
let gate: RunningGateway;
beforeAll(async () => {
	site = startLocalSite();
	gate = await startGateway({
		config: { limits: { failedRequests: 0 }, web: { maxPageMb: 1, pageMs: 5_000 } },
		fetchPublic: site.fetch,
	});
});
afterAll(async () => {
	expect(await gate.posts()).toEqual([]);
	expect(await gate.balance()).toBe(10_000_000_000);
	await Promise.all([gate.stop(), site.stop()]);
});

const send = (body: unknown) => gate.call("POST", "/augment/scrape", body);

test.each([
	["a site that forbids programs", "https://x.com/a", "page_refused"],
	["the same below its name", "https://old.reddit.com/r/tea", "page_refused"],
	["an address of this machine", "http://127.0.0.1:8787/admin", "url_private"],
	["the same in one number", "http://2130706433/", "url_private"],
	["the metadata of clouds", "http://169.254.169.254/latest/meta-data/", "url_private"],
	["a name that leads inside", "http://inside.example/", "url_private"],
	["a redirect that leads inside", "http://site.example/inside", "url_private"],
	["a password", "http://user:secret@site.example/", "url_invalid"],
	["a page that is not there", "http://site.example/gone", "url_status"],
	["redirects without end", "http://site.example/loop", "url_redirects"],
	["a page without text", "http://site.example/empty", "page_empty"],
	["a page that is empty without scripts", "http://site.example/app", "page_empty"],
	["a picture", "http://site.example/picture", "page_unsupported"],
	["a broken document", "http://site.example/broken.pdf", "file_corrupt"],
	["more than a page may have", "http://site.example/large", "url_too_large"],
	["what robots.txt forbids", "http://site.example/private", "page_robots"],
])("refuses %s, and says so", async (_, url, code) => {
	const answers: LocalSite["paths"] = {
		"/inside": () => new Response(null, { status: 302, headers: { location: "http://10.0.0.1/" } }),
		"/loop": () => new Response(null, { status: 302, headers: { location: "/loop" } }),
		"/empty": () => new Response("<html><body></body></html>", { headers: { "content-type": "text/html" } }),
		"/app": () =>
			new Response('<html><body><div id="app"></div><script src="a.js"></script></body></html>', {
				headers: { "content-type": "text/html" },
			}),
		"/picture": () => new Response("GIF89a", { headers: { "content-type": "image/gif" } }),
		"/broken.pdf": () => new Response("%PDF-1.7 nothing"),
		"/large": () => new Response("x".repeat(2 ** 20 + 1)),
		"/robots.txt": () => new Response("User-agent: *\nDisallow: /private"),
		"/private": () => new Response("words"),
	};
	site.paths = answers;
	const answer = await send({ url });
	expect(answer.status).toBe(400);
	const body = (await answer.json()) as { error: string };
	expect(body).toMatchObject({ code: "INVALID_REQUEST", issues: [{ path: ["url"], code }] });
	expect(typeof body.error).toBe("string");
	expect(body.error).not.toContain("secret");
});

test.each([
	["missing", {}],
	["a number", { url: 7 }],
	["empty", { url: "" }],
	["relative", { url: "/a" }],
	["a file's", { url: "file:///etc/passwd" }],
	["no URL", { url: "tea" }],
])("refuses a url that is %s, before anything is held", async (_, body) => {
	const answer = await send(body);
	expect(answer.status).toBe(400);
	expect(await answer.json()).toMatchObject({ code: "INVALID_REQUEST", issues: [{ path: ["url"] }], details: { url: {} } });
});

test("refuses a body that is no JSON", async () => {
	expect((await gate.call("POST", "/augment/scrape", "{url")).status).toBe(400);
});
