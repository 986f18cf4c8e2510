import { afterAll, beforeAll, expect, test } from "bun:test";
import { HELLO, pricedModel } from "../support/chat-bodies.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";

let upstream: ScriptedUpstream;
let gate: RunningGateway;
beforeAll(async () => {
	upstream = startScriptedUpstream();
	upstream.always({ usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 } });
	gate = await startGateway({
		config: {
			upstreams: { one: upstreamEntry(upstream.url, { discover: false }), two: upstreamEntry(upstream.url, { discover: false }) },
			models: { entries: { known: pricedModel(["one", "two"]) } },
		},
	});
});
afterAll(async () => {
	await gate.stop();
	await upstream.stop();
});

async function scrape(accept = "text/plain"): Promise<Map<string, number>> {
	const text = await (await fetch(`${gate.url}/metrics`, { headers: { accept } })).text();
	const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
	return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]));
}

test("requests, tokens, spend, times and retries are there with their labels, whole answers and streams alike", async () => {
	upstream.next({ status: 500, raw: "{}" });
	await (await gate.chat({ model: "known", messages: HELLO })).text();
	await (await gate.chat({ model: "known", messages: HELLO, stream: true })).text();
	await (await gate.chat({ model: "nobody/has-this", messages: HELLO })).text();
	await (await gate.chat({ model: "known", messages: HELLO }, { key: "sk_inf_unknown_000000000000" })).text();
	const seen = await scrape();
	const endpoint = [...seen.keys()].find((line) => line.includes('model="known",status="2xx"'))?.match(/endpoint="([^"]+)"/)?.[1];
	const of = (name: string, labels: string) => seen.get(`${name}{endpoint="${endpoint}"${labels}}`);
	expect(of("turnpike_requests_total", ',model="known",status="2xx"')).toBe(2);
	expect(of("turnpike_requests_total", ',model="",status="4xx"')).toBe(2);
	expect([...seen.keys()].join()).not.toContain("nobody/has-this");
	expect(of("turnpike_errors_total", ',code="AUTHENTICATION_FAILED"')).toBe(1);
	expect(of("turnpike_tokens_total", ',model="known",direction="prompt"')).toBe(20);
	expect(of("turnpike_tokens_total", ',model="known",direction="completion"')).toBe(10);
	expect(of("turnpike_spend_usd_total", ',model="known",unit="usd"')).toBeCloseTo(0.00006, 9);
	expect(of("turnpike_requests_running", "")).toBe(0);
	expect(of("turnpike_request_seconds_count", "")).toBe(4);
	expect(
		seen.get(`turnpike_request_seconds_bucket{le="+Inf",endpoint="${endpoint}"}`) ??
			of("turnpike_request_seconds_bucket", ',le="+Inf"'),
	).toBe(4);
	const calls = (outcome: string) =>
		["one", "two"].reduce(
			(sum, name) => sum + (seen.get(`turnpike_upstream_calls_total{upstream="${name}",outcome="${outcome}"}`) ?? 0),
			0,
		);
	expect(calls("good")).toBe(2);
	expect(
		["one", "two"].reduce((sum, name) => sum + (seen.get(`turnpike_upstream_retries_total{upstream="${name}"}`) ?? 0), 0),
	).toBe(1);
	expect(seen.get("turnpike_node_takes_work")).toBe(1);
	expect(seen.get("turnpike_journal_sync_seconds_count")).toBeDefined();
	expect(seen.get('turnpike_engine_processes{engine="documents",state="ready"}') ?? 0).toBe(0);
});

test("a reader that asks for OpenMetrics gets it: counters without their ending in their type, and an end", async () => {
	const answer = await fetch(`${gate.url}/metrics`, {
		headers: { accept: "application/openmetrics-text;version=1.0.0,text/plain;q=0.5" },
	});
	expect(answer.headers.get("content-type")).toContain("application/openmetrics-text");
	const text = await answer.text();
	expect(text).toContain("# TYPE turnpike_requests counter");
	expect(text).toMatch(/^turnpike_requests_total\{/m);
	expect(text).not.toContain("_total_total");
	expect(text.endsWith("# EOF\n")).toBe(true);
});
