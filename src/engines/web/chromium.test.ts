import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { type LocalSite, startLocalSite } from "../../../test/support/local-site.ts";
import { until } from "../../../test/support/until.ts";
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
		maxMemoryMb: () => 900,
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

test.skipIf(program === null).each(["http://inside.example/", "http://site.example:1/"])(
	"a page whose scripts lead to what cannot be read is refused: %s",
	async (address) => {
		site.paths["/leading"] = () => page(`location = ${JSON.stringify(address)};`);
		const patient = new Chromium({
			program: program ?? "",
			proxyPort: async () => (await site.proxy()).port,
			userAgent: () => "Turnpike/test",
			maxBytes: 10_000_000,
			maxMemoryMb: () => 900,
		});
		const reading = patient.html("http://site.example/leading", { tenant: "test", signal: new AbortController().signal });
		await expect(reading).rejects.toMatchObject({ name: "PageFault", code: "url_unreachable" });
	},
);

test.skipIf(program === null)("a page that takes more memory than a page may is ended with all its processes", async () => {
	site.paths["/hungry"] = () =>
		page("const all = []; for (let at = 0; at < 400; at++) all.push(new Uint8Array(16 * 2 ** 20).fill(1));");
	const hungry = new Chromium({
		program: program ?? "",
		proxyPort: async () => (await site.proxy()).port,
		userAgent: () => "Turnpike/hungry",
		maxBytes: 100_000,
		maxMemoryMb: () => 900,
	});
	const reading = hungry.html("http://site.example/hungry", { tenant: "test", signal: new AbortController().signal });
	await expect(reading).rejects.toMatchObject({ name: "PageFault", code: "page_too_costly" });
	const left = () => readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && commandOf(pid).includes("Turnpike/hungry"));
	await until(() => left().length === 0, "the end of its processes");
});

function commandOf(pid: string): string {
	try {
		return readFileSync(`/proc/${pid}/cmdline`, "utf8");
	} catch {
		return "";
	}
}

test("a program that is not there is said so", async () => {
	const none = new Chromium({
		program: "/no/such/browser",
		proxyPort: async () => 9,
		userAgent: () => "a",
		maxBytes: 1,
		maxMemoryMb: () => 900,
	});
	await expect(none.html("http://site.example/", { tenant: "test", signal: new AbortController().signal })).rejects.toMatchObject(
		{ name: "PageFault" },
	);
});
