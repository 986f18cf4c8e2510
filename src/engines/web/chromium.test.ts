import { afterAll, beforeAll, expect, test } from "bun:test";
import { type LocalSite, startLocalSite } from "../../../test/support/local-site.ts";
import { Chromium } from "./chromium.ts";

const program = Bun.which("chromium") ?? Bun.which("google-chrome") ?? Bun.which("chrome");
const page = (script: string) =>
	new Response(`<html><head><title>App</title></head><body><p id="app"></p><script>${script}</script></body></html>`, {
		headers: { "content-type": "text/html" },
	});
let site: LocalSite;
let inside: Bun.Server<undefined>;
let insideAsked = 0;
let chromium: Chromium;
beforeAll(() => {
	site = startLocalSite();
	inside = Bun.serve({
		hostname: "127.0.0.1",
		port: 0,
		fetch() {
			insideAsked += 1;
			return new Response("secret", { headers: { "access-control-allow-origin": "*" } });
		},
	});
	chromium = new Chromium({
		program: program ?? "",
		proxyPort: async () => (await site.proxy()).port,
		userAgent: () => "Turnpike/test",
		maxBytes: 100_000,
		scriptMs: 3_000,
		loadMs: 50_000,
	});
});
afterAll(() => Promise.all([site.stop(), inside.stop(true)]));

test.skipIf(program === null)("runs a page's scripts, and lets them reach the public internet alone", async () => {
	site.paths["/data"] = (request) => Response.json({ agent: request.headers.get("user-agent") });
	site.paths["/app"] = () =>
		page(`(async () => {
			const { agent } = await (await fetch("/data")).json();
			const tries = ["http://127.0.0.1:${inside.port}/", "http://localhost:${inside.port}/", "http://inside.example/"];
			const texts = await Promise.all(tries.map(async (url) => fetch(url).then((r) => r.text()).catch(() => "closed")));
			document.getElementById("app").textContent = agent + ": " + texts.join();
		})()`);
	const { html } = await chromium.html("http://site.example/app", { tenant: "test", signal: new AbortController().signal });
	expect(html).toContain('<p id="app">Turnpike/test: closed,closed,closed</p>');
	expect(insideAsked).toBe(0);
});

test.skipIf(program === null)("a page that never ends is ended with its caller", async () => {
	const leave = new AbortController();
	site.paths["/endless"] = () => {
		leave.abort(new RangeError("left"));
		return page("for (;;);");
	};
	await expect(chromium.html("http://site.example/endless", { tenant: "test", signal: leave.signal })).rejects.toThrow("left");
});

test("a program that is not there is said so", async () => {
	const none = new Chromium({ program: "/no/such/browser", proxyPort: async () => 9, userAgent: () => "a", maxBytes: 1 });
	await expect(none.html("http://site.example/", { tenant: "test", signal: new AbortController().signal })).rejects.toMatchObject(
		{ name: "PageFault" },
	);
});
