import { afterAll, beforeAll, expect, test } from "bun:test";
import { HELLO, pricedModel } from "../support/chat-bodies.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";

interface Span {
	readonly traceId: string;
	readonly spanId: string;
	readonly parentSpanId?: string;
	readonly name: string;
	readonly kind: number;
	readonly startTimeUnixNano: string;
	readonly endTimeUnixNano: string;
	readonly attributes: readonly {
		readonly key: string;
		readonly value: { readonly stringValue?: string; readonly intValue?: string };
	}[];
	readonly events?: readonly { readonly name: string }[];
	readonly status?: { readonly code: number; readonly message: string };
}

const CALLERS = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const spans: Span[] = [];
const bodies: string[] = [];
let upstream: ScriptedUpstream;
let gate: RunningGateway;
let heard = Promise.withResolvers<void>();

const collector = Bun.serve({
	port: 0,
	fetch: async (request) => {
		const body = await request.text();
		bodies.push(body);
		for (const { scopeSpans } of JSON.parse(body).resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans);
		heard.resolve();
		heard = Promise.withResolvers();
		return Response.json({ partialSuccess: {} });
	},
});

beforeAll(async () => {
	upstream = startScriptedUpstream();
	gate = await startGateway({
		config: {
			upstreams: { one: upstreamEntry(upstream.url, { discover: false, key: "sk-of-the-upstream-1" }) },
			models: { entries: { traced: pricedModel(["one"]) } },
			traces: { url: `http://127.0.0.1:${collector.port}/v1/traces`, share: 0, passTo: ["one"] },
		},
	});
});
afterAll(async () => {
	await gate.stop();
	await upstream.stop();
	void collector.stop(true);
});

/** All spans of the trace, once its root is here. */
async function traceOf(requestId: string): Promise<Span[]> {
	for (;;) {
		const root = spans.find(({ attributes }) => attributes.some(({ value }) => value.stringValue === requestId));
		if (root !== undefined) return spans.filter(({ traceId }) => traceId === root.traceId);
		await heard.promise;
	}
}

test("a traced request has its road as spans below the caller's, and the upstream hears of its own", async () => {
	const answer = await gate.chat(
		{ model: "traced", messages: [{ role: "user", content: "a prompt that nobody else reads" }] },
		{ headers: { traceparent: CALLERS } },
	);
	expect(answer.status).toBe(200);
	await answer.text();
	const requestId = answer.headers.get("x-request-id") ?? "";
	expect(requestId).not.toContain("0af7651916cd43dd");
	const all = await traceOf(requestId);
	const named = (name: string) => all.find((span) => span.name === name);
	const root = named("POST /chat/completions");
	expect(root).toMatchObject({ parentSpanId: "b7ad6b7169203331", kind: 2, traceId: "0af7651916cd43dd8448eb211c80319c" });
	const steps = all.filter(({ parentSpanId }) => parentSpanId === root?.spanId).map(({ name }) => name);
	expect(steps).toEqual(["identify", "receive", "admit", "limit", "hold", "work", "post", "answer"]);
	const call = named("upstream one");
	expect(call).toMatchObject({ parentSpanId: named("work")?.spanId ?? "", kind: 3, events: [{ name: "first byte" }] });
	expect(upstream.requests.at(-1)?.headers.get("traceparent")).toBe(`00-${root?.traceId}-${call?.spanId}-01`);
	for (const { startTimeUnixNano, endTimeUnixNano } of all)
		expect(BigInt(endTimeUnixNano) >= BigInt(startTimeUnixNano)).toBe(true);
	for (const secret of ["a prompt that nobody", gate.key, "sk-of-the-upstream-1"]) expect(bodies.join()).not.toContain(secret);
});

test("a failed request names its code, and one that its caller does not sample is not traced", async () => {
	const refused = await gate.chat({ model: "nothing", messages: HELLO }, { headers: { traceparent: CALLERS } });
	const all = await traceOf(refused.headers.get("x-request-id") ?? "");
	expect(all.find(({ kind, status }) => kind === 2 && status !== undefined)?.status?.code).toBe(2);
	const before = upstream.requests.length;
	const silent = await gate.chat(
		{ model: "traced", messages: HELLO },
		{ headers: { traceparent: CALLERS.replace(/01$/, "00") } },
	);
	await silent.text();
	expect(upstream.requests[before]?.headers.get("traceparent")).toBeNull();
});
