import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "../telemetry/log.ts";
import { type BuiltFile, builtConsole } from "./console-build.ts";
import { ConsolePages } from "./console-pages.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const file = (text: string, type: string): BuiltFile => ({
	type,
	etag: `"${text}"`,
	bytes: bytes(text),
	packed: { br: bytes(`br ${text}`), gzip: null },
});
const FILES = new Map([
	["index.html", file("index", "text/html; charset=utf-8")],
	["assets/app-1.js", file("script", "text/javascript; charset=utf-8")],
	["favicon.svg", file("icon", "image/svg+xml")],
]);

const get = (headers: Record<string, string> = {}) => new Request("http://localhost/console", { headers });
const pagesOf = (build: () => Promise<ReadonlyMap<string, BuiltFile>>, now = () => 0) =>
	new ConsolePages({ build, log: silentLog, monotonicMs: now });

test("hashed files are kept for good, the page is asked for each time, and stands for every path of the application", async () => {
	const pages = pagesOf(async () => FILES);
	const told = async (path: string) => {
		const answer = await pages.answer(path, get());
		return [answer.status, await answer.text(), answer.headers.get("cache-control")];
	};
	expect(await told("/assets/app-1.js")).toEqual([200, "script", "public, max-age=31536000, immutable"]);
	expect(await told("/favicon.svg")).toEqual([200, "icon", "no-cache"]);
	for (const path of ["", "/", "/index.html", "/accounts/acc_1", "/../../etc/passwd", "/%2e%2e/x"])
		expect(await told(path)).toEqual([200, "index", "no-cache"]);
	for (const path of ["/assets/app-2.js", "/assets/../index.html"]) expect((await told(path))[0]).toBe(404);
});

test("who takes br gets it, and who has a file already gets 304", async () => {
	const pages = pagesOf(async () => FILES);
	const packed = await pages.answer("/assets/app-1.js", get({ "accept-encoding": "gzip, br" }));
	expect([packed.headers.get("content-encoding"), packed.headers.get("vary"), await packed.text()]).toEqual([
		"br",
		"Accept-Encoding",
		"br script",
	]);
	const plain = await pages.answer("/assets/app-1.js", get({ "accept-encoding": "gzip" }));
	expect([plain.headers.get("content-encoding"), await plain.text()]).toEqual([null, "script"]);
	expect((await pages.answer("/", get({ "if-none-match": '"index"' }))).status).toBe(304);
});

test("a page says that the console is being built, and several lookers wait for one build", async () => {
	const { promise, resolve } = Promise.withResolvers<typeof FILES>();
	let builds = 0;
	const pages = pagesOf(() => {
		builds++;
		return promise;
	});
	const answers = await Promise.all(["/", "/models", "/assets/app-1.js"].map((path) => pages.answer(path, get())));
	for (const answer of answers) {
		expect([answer.status, answer.headers.get("retry-after"), answer.headers.get("cache-control")]).toEqual([
			503,
			"1",
			"no-store",
		]);
		expect(await answer.text()).toContain("is being built");
	}
	resolve(FILES);
	expect(await (await pages.answer("/", get())).text()).toBe("index");
	expect(builds).toBe(1);
});

test("a build that failed is told, and tried again after half a minute", async () => {
	let [builds, nowMs] = [0, 0];
	const pages = pagesOf(
		async () => {
			builds++;
			if (builds === 1) throw new Error("no disk");
			return FILES;
		},
		() => nowMs,
	);
	const failed = await pages.answer("/", get());
	expect([failed.status, failed.headers.get("retry-after")]).toEqual([503, "30"]);
	expect(await failed.text()).toContain("could not be built");
	expect((await pages.answer("/", get())).status).toBe(503);
	nowMs = 30_000;
	expect((await pages.answer("/", get())).status).toBe(200);
	expect(builds).toBe(2);
});

test("the application is built, packed and obeys its policy: nothing inline, nothing from elsewhere", async () => {
	const dataDir = mkdtempSync(join(tmpdir(), "turnpike-console-"));
	try {
		const files = await builtConsole({ dataDir, log: silentLog });
		const html = new TextDecoder().decode(files.get("index.html")?.bytes);
		expect(html).toMatch(/<script[^>]* src="\/console\/assets\/[\w-]+\.js"/);
		expect(html).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=|https?:\/\//);
		const scripts = [...files].filter(([name]) => name.endsWith(".js"));
		expect(scripts.length).toBeGreaterThan(1);
		for (const [name, { packed, bytes: plain }] of scripts) {
			expect(name).toMatch(/^assets\/.+-[\w-]{8}\.js$/);
			if (plain.length >= 1_024) expect(packed.br?.length ?? Number.POSITIVE_INFINITY).toBeLessThan(plain.length);
		}
		const again = await builtConsole({ dataDir, log: silentLog });
		expect([...again.keys()].sort()).toEqual([...files.keys()].sort());
	} finally {
		rmSync(dataDir, { recursive: true, force: true });
	}
});
