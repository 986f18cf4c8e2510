import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type LocalSite, startLocalSite } from "../../../test/support/local-site.ts";
import { ManualClock } from "../../telemetry/clock.ts";
import { silentLog } from "../../telemetry/log.ts";
import { DocumentPool } from "../documents/index.ts";
import { PagePool } from "./page-pool.ts";
import { type ScriptedPages, WebPageReader } from "./page-reader.ts";
import { PageFault } from "./port.ts";

/** A name of the internet that leads to the site of this test. */
const SITE = "http://site.example";
const LONG = "Tea is made of leaves, and of hot water that is poured over them. ".repeat(12);
const html = (body: string, headers: Record<string, string> = {}) =>
	new Response(`<!doctype html><html><head><title>Tea</title></head><body>${body}</body></html>`, {
		headers: { "content-type": "text/html", ...headers },
	});
const text = (body: string | Uint8Array<ArrayBuffer>, type: string) => new Response(body, { headers: { "content-type": type } });

let site: LocalSite;
let clock: ManualClock;
let reader: WebPageReader;
let pages: PagePool;
let documents: DocumentPool;
const settings = { agentName: "Turnpike", robots: true, refusedSites: ["refused.example"], pageMs: 20_000, maxPageMb: 1 };

beforeAll(() => {
	site = startLocalSite();
	pages = new PagePool({ log: silentLog, processes: 1, maxMemoryMb: 768, limitMs: 10_000 });
	documents = new DocumentPool({ log: silentLog, processes: 1, limitMs: 20_000, maxMemoryMb: 1_024, tesseract: null });
});
beforeEach(() => {
	site.paths = {};
	site.requests = [];
	clock = new ManualClock("2026-01-01T00:00:00Z");
	reader = readerWith(null);
});
afterAll(async () => {
	await Promise.all([pages.stop(), documents.stop(), site.stop()]);
});

const readerWith = (scripted: ScriptedPages | null) =>
	new WebPageReader({ fetch: site.fetch, pages, documents, scripted, clock, settings: () => settings });
const read = (path: string) =>
	reader.read(path.startsWith("/") ? SITE + path : path, { tenant: "test", signal: new AbortController().signal });
async function codeOf(reading: Promise<unknown>): Promise<string> {
	try {
		await reading;
	} catch (fault) {
		if (fault instanceof PageFault) return fault.code;
		throw fault;
	}
	return "none";
}

test("reads a page as Markdown, in the charset of its header, of its own words, or of its bytes", async () => {
	const russian = new Uint8Array(Buffer.from("<html><body><p>\xde\xc1\xca</p>", "latin1"));
	site.paths["/header"] = () => text(russian, "text/html; charset=koi8-r");
	site.paths["/meta"] = () =>
		text(new Uint8Array(Buffer.from(`<html><head><meta charset="windows-1252"></head><p>Th\xe9</p>`, "latin1")), "text/html");
	site.paths["/utf8"] = () => html("<p>茶</p>");
	expect((await read("/header")).content).toBe("чай");
	expect((await read("/meta")).content).toBe("Thé");
	expect((await read("/utf8")).content).toContain("茶");
});

test("tells the title, the date and where a page came from after its redirects", async () => {
	site.paths["/old"] = () => new Response(null, { status: 301, headers: { location: "/new" } });
	site.paths["/new"] = () =>
		text(
			`<html><head><title>Tea</title><meta property="article:published_time" content="2025-01-02T03:04:05+01:00"></head><body><article><p>${LONG}</p></article></body></html>`,
			"text/html",
		);
	const page = await read("/old");
	expect(page).toMatchObject({ url: `${SITE}/new`, title: "Tea", date: "2025-01-02T02:04:05" });
	expect(page.content).toStartWith("# Tea\n\nTea is made");
});

test("takes the site's own Markdown: as it is asked for, linked in the header, linked in the page", async () => {
	site.paths["/asked"] = (request) =>
		request.headers.get("accept")?.startsWith("text/markdown") ? text("# Own\n\nas asked", "text/markdown") : html("no");
	site.paths["/header"] = () =>
		html("<p>html</p>", { link: '<https://a.example/>; rel="next", </own.md>; rel="alternate"; type="text/markdown"' });
	site.paths["/page"] = () =>
		text('<html><head><link rel="alternate" type="text/markdown" href="own.md"></head><p>html</p>', "text/html");
	site.paths["/own.md"] = () => text("# Own\n\nby link", "text/plain");
	expect(await read("/asked")).toMatchObject({ title: "Own", content: "# Own\n\nas asked" });
	expect(await read("/header")).toMatchObject({ url: `${SITE}/own.md`, content: "# Own\n\nby link" });
	expect(await read("/page")).toMatchObject({ url: `${SITE}/own.md`, content: "# Own\n\nby link" });
});

test("a Markdown that is announced and is not there, or is HTML, leaves the page", async () => {
	for (const href of ["/gone.md", "/soft.md", "http://inside.example/x.md"]) {
		site.paths["/page"] = () =>
			text(`<html><head><link rel="alternate" type="text/markdown" href="${href}"></head><p>the page</p>`, "text/html");
		site.paths["/soft.md"] = () => html("<p>not found</p>");
		expect((await read("/page")).content, href).toContain("the page");
	}
});

test("the address of a site itself gives its llms.txt, where there is one", async () => {
	site.paths["/"] = () => html("<p>welcome</p>");
	expect((await read("/")).content).toContain("welcome");
	site.paths["/llms.txt"] = () => text("# Tea house\n\n> All about tea", "text/plain");
	expect(await read("/")).toMatchObject({ url: `${SITE}/llms.txt`, title: "Tea house" });
	site.paths["/page"] = () => html("<p>a page</p>");
	expect((await read("/page")).content).toContain("a page");
});

test("reads documents behind addresses, whatever the header says, and text as it is", async () => {
	const docx = new Uint8Array(readFileSync(join(import.meta.dir, "../../../test/samples/testWORD_various.docx")));
	site.paths["/file"] = () => text(docx, "text/html");
	site.paths["/data.json"] = () => text('{"tea": true}', "application/json");
	expect((await read("/file")).content).toStartWith("This is the header text.");
	expect((await read("/data.json")).content).toBe('{"tea": true}');
});

test("says why an address gives no text", async () => {
	site.paths["/picture"] = () => text("\x89PNG", "image/png");
	site.paths["/binary"] = () => text(new Uint8Array([1, 0, 2, 3, 0, 0, 255]), "application/octet-stream");
	site.paths["/empty"] = () => html("");
	site.paths["/scripted"] = () => html('<div id="root"></div><script>render()</script>');
	site.paths["/large"] = () => html("x".repeat(2 ** 20));
	site.paths["/broken.pdf"] = () => text("%PDF-1.7 nothing", "application/pdf");
	const codes: Record<string, string> = {
		"/picture": "page_unsupported",
		"/binary": "page_unsupported",
		"/empty": "page_empty",
		"/scripted": "page_empty",
		"/large": "url_too_large",
		"/broken.pdf": "file_corrupt",
		"/gone": "url_status",
		"http://inside.example/": "url_private",
		"http://127.0.0.1/": "url_private",
		"ftp://site.example/": "url_invalid",
		"http://refused.example/": "page_refused",
		"http://www.refused.example/a": "page_refused",
	};
	for (const [path, code] of Object.entries(codes)) expect(await codeOf(read(path)), path).toBe(code);
});

test("a page that is empty without its scripts is read by the operator's browser", async () => {
	site.paths["/app"] = () => html('<div id="root"></div><script>render()</script>');
	reader = readerWith({
		html: async (url) => ({ url: `${url}#ran`, html: `<title>App</title><article><p>${LONG}</p></article>` }),
	});
	expect(await read("/app")).toMatchObject({ url: `${SITE}/app#ran`, title: "App" });
	site.paths["/plain"] = () => html(`<p>${LONG}</p><script>more()</script>`);
	expect((await read("/plain")).url).toBe(`${SITE}/plain`);
});

test("what robots.txt forbids is not read, for this agent before all", async () => {
	site.paths["/robots.txt"] = () =>
		text(
			"User-agent: *\nDisallow: /\n\nUser-agent: turnpike\nDisallow: /private\nAllow: /private/open\nDisallow: /*.cgi$",
			"text/plain",
		);
	for (const path of ["/a", "/private/x", "/private/open", "/b.cgi", "/b.cgi2"])
		site.paths[path] = () => html(`<p>${path} words</p>`);
	expect((await read("/a")).content).toContain("/a words");
	expect((await read("/private/open")).content).toContain("words");
	expect((await read("/b.cgi2")).content).toContain("words");
	site.requests = [];
	expect(await codeOf(read("/private/x"))).toBe("page_robots");
	expect(await codeOf(read("/b.cgi"))).toBe("page_robots");
	expect(site.requests).toEqual([]);
	site.paths["/redirect"] = () => new Response(null, { status: 302, headers: { location: "/private/x" } });
	expect(await codeOf(read("/redirect"))).toBe("page_robots");
	expect(site.requests).toEqual(["/redirect"]);
});

test("rules are kept for an hour; without any, all may be read", async () => {
	site.paths["/a"] = () => html("<p>words</p>");
	await read("/a");
	await read("/a");
	expect(site.requests).toEqual(["/robots.txt", "/a", "/a"]);
	clock.advance(3_600_001);
	site.paths["/robots.txt"] = () => text("User-agent: *\nDisallow: /", "text/plain");
	expect(await codeOf(read("/a"))).toBe("page_robots");
});

test("rules that cannot be reached forbid everything for a minute", async () => {
	site.paths["/a"] = () => html("<p>words</p>");
	site.paths["/robots.txt"] = () => new Response("down", { status: 503 });
	expect(await codeOf(read("/a"))).toBe("page_robots");
	site.paths["/robots.txt"] = () => new Response("gone", { status: 410 });
	expect(await codeOf(read("/a"))).toBe("page_robots");
	clock.advance(60_001);
	expect((await read("/a")).content).toContain("words");
});

test("a page that takes too long, and a caller that leaves, end the reading", async () => {
	site.paths["/slow"] = () => new Promise(() => {});
	const { pageMs } = settings;
	settings.pageMs = 200;
	try {
		expect(await codeOf(read("/slow"))).toBe("url_timeout");
	} finally {
		settings.pageMs = pageMs;
	}
	const leave = new AbortController();
	const reading = reader.read(`${SITE}/slow`, { tenant: "test", signal: leave.signal });
	leave.abort(new RangeError("left"));
	await expect(reading).rejects.toThrow("left");
});
