/** `turnpike top` beside a real server. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Scrape, Span } from "../../src/commands/top/scrape.ts";
import { viewOf } from "../../src/commands/top/view.ts";
import { freePort } from "../support/free-port.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { type Served, serve, turnpike } from "../support/served.ts";
import { onTerminal } from "../support/terminal.ts";
import { until } from "../support/until.ts";

describe("beside a server", () => {
	let upstream: ScriptedUpstream;
	let served: Served;
	beforeAll(async () => {
		upstream = startScriptedUpstream();
		upstream.models(["small"]);
		served = await serve({
			config: { upstreams: { "gpu-a": { url: upstream.url } }, chat: { embedded: { enabled: false } } },
		});
		// The models of the upstream come a moment after the server is ready.
		await until(async () => {
			const answer = await served.chat({ model: "small", messages: [{ role: "user", content: "hello" }] });
			await answer.arrayBuffer();
			return answer.status === 200;
		});
	});
	afterAll(async () => {
		served.remove();
		await upstream.stop();
	});

	test("prints what is so since the start where the output is no terminal", async () => {
		const { code, stdout, stderr } = await turnpike(["top", "--config", served.configFile, "--data", served.dataDir]);
		expect([code, stderr]).toEqual([0, ""]);
		expect(stdout).toContain(served.url);
		expect(stdout).toContain("since its start");
		expect(stdout).toMatch(/^gpu-a +up +0 /m);
		expect(stdout).toMatch(/^latency +p50 \d+ ms/m);
		expect(stdout).not.toContain("\x1b");
		for (const line of stdout.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
	});

	test("draws on a terminal of 80 by 24 until q, and leaves it as it was", async () => {
		const terminal = onTerminal(["top", "--interval", "0.2", "--config", served.configFile, "--data", served.dataDir]);
		await terminal.shows("\x1b[?1049h");
		await terminal.shows("gpu-a");
		await terminal.shows("the last ");
		await terminal.type("gpu-a", "q");
		expect(await terminal.exited).toBe(0);
		expect(terminal.screen()).toEndWith("\x1b[?25h\x1b[?1049l");
		for (const frame of terminal.screen().split("\x1b[H").slice(1)) expect(frame.split("\r\n").length).toBeLessThanOrEqual(24);
	});
});

test("says that nobody answers, and where to look", async () => {
	const { code, stderr } = await turnpike(["top", "--url", `http://127.0.0.1:${await freePort()}`]);
	expect([code, stderr]).toEqual([1, expect.stringContaining("No server answers")]);
});

test("what is no Turnpike is told of, and nothing that a server names drives the terminal", async () => {
	const build = 'turnpike_build_info{version="1"} 1';
	let page = "<html>";
	const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(page) });
	const look = () => turnpike(["top", "--once", "--url", `http://127.0.0.1:${server.port}`]);
	try {
		const html = await look();
		expect([html.code, html.stderr]).toEqual([1, expect.stringContaining("is not a Turnpike server")]);
		page = `${build}\nturnpike_upstream_up{upstream="\x1b[2J\x1b]0;x\x07gpu"} 1\n`;
		const shown = await look();
		expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining("\\u001b[2J\\u001b]0;x\\u0007gpu")]);
	} finally {
		await server.stop(true);
	}
});

test("an interval that is none is refused", async () => {
	expect((await turnpike(["top", "--interval", "0"])).code).toBe(64);
});

describe("between two looks", () => {
	const scrape = (atMs: number, requests: number, startedAt = 1) =>
		new Scrape(
			[
				`process_start_time_seconds ${startedAt}`,
				`turnpike_requests_total{endpoint="chat",model="a \\"b\\"",status="2xx"} ${requests}`,
				`turnpike_requests_total{endpoint="chat",model="",status="5xx"} ${requests / 10}`,
				`turnpike_request_seconds_bucket{endpoint="chat",le="0.1"} ${requests / 2}`,
				`turnpike_request_seconds_bucket{endpoint="chat",le="1"} ${requests}`,
				`turnpike_request_seconds_bucket{endpoint="chat",le="+Inf"} ${requests}`,
			].join("\n"),
			atMs,
		);

	test("rates and times are of what came between, and of all after another start", () => {
		const span = new Span(scrape(12_000, 300), scrape(2_000, 100));
		expect(span.perSecond("turnpike_requests_total", ({ status }) => status === "2xx")).toBe(20);
		expect(span.quantile("turnpike_request_seconds", 0.5)).toBeCloseTo(0.1, 9);
		expect(span.quantile("turnpike_request_seconds", 0.75)).toBeCloseTo(0.55, 9);
		expect(span.perSecond("turnpike_nothing_total")).toBeNull();
		expect(new Scrape("# TYPE turnpike_errors_total counter\n", 0).sum("turnpike_errors_total")).toBe(0);
		const again = new Span(scrape(12_000, 10, 2), scrape(2_000, 100));
		expect(again.perSecond("turnpike_requests_total", ({ status }) => status === "2xx")).toBe(1);
		expect(again.sinceStart).toBe(true);
	});

	test("what has no place on a small screen is counted, and nothing is wider than it", () => {
		const upstreams = Array.from(
			{ length: 40 },
			(_, index) => `turnpike_upstream_up{upstream="${"x".repeat(60)}${index}"} ${index % 2}`,
		);
		const engines = ["chat", "speech"].map((engine) => `turnpike_engine_processes{engine="${engine}",state="ready"} 1`);
		const span = new Span(new Scrape([...upstreams, ...engines].join("\n"), 0), null);
		const lines = viewOf(span, "http://127.0.0.1:8787", { columns: 80, rows: 24 });
		expect(lines.length).toBeLessThanOrEqual(24);
		expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
		expect(lines.join("\n")).toMatch(/\.\.\. \d+ more/);
		expect(lines.join("\n")).toContain("speech");
	});
});
