import { expect, test } from "bun:test";
import { deltaText, eventsOf, HELLO, pricedModel } from "../support/chat-bodies.ts";
import { upstreamEntry } from "../support/running-gateway.ts";
import { startScriptedUpstream } from "../support/scripted-upstream.ts";
import { serve } from "../support/served.ts";

const THOUGHT_MS = 90_000;

test("an upstream that thinks for 90 s before its first byte is waited for, unary and stream", async () => {
	const upstream = startScriptedUpstream();
	upstream.always({ thinkMs: THOUGHT_MS });
	const server = await serve({
		config: { upstreams: { scripted: upstreamEntry(upstream.url) }, models: { entries: { priced: pricedModel(["scripted"]) } } },
	});
	const began = performance.now();
	const [unary, stream] = await Promise.all([
		server
			.chat({ model: "priced", messages: HELLO })
			.then(async (answer) => ({ status: answer.status, text: await answer.text() })),
		server.chat({ model: "priced", messages: HELLO, stream: true }).then(async (answer) => ({
			status: answer.status,
			headersMs: performance.now() - began,
			text: await answer.text(),
		})),
	]);
	expect(performance.now() - began).toBeGreaterThan(THOUGHT_MS - 1_000);
	expect(unary.status).toBe(200);
	expect(unary.text).toContain("Hello, world!");
	expect(stream.status).toBe(200);
	expect(stream.headersMs).toBeLessThan(THOUGHT_MS);
	expect(stream.text).toContain(": ping");
	const { chunks, done } = eventsOf(
		stream.text
			.split("\n\n")
			.filter((event) => !event.startsWith(":"))
			.join("\n\n"),
	);
	expect(deltaText(chunks)).toBe("Hello, world!");
	expect(done).toBe(true);
	server.remove();
	await upstream.stop();
});
