/** What a provider's package is given to read makes no turn of the event loop long. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SCRIPTS } from "../support/providers/index.ts";
import { LONGEST_TURN_MS, startWatchedServer, type WatchedServer } from "../support/watched-server.ts";

const MB = 1_000_000;
const list = (element: string, count: number) => `[${Array(count).fill(element).join(",")}]`;
const keys = `{${Array.from({ length: 300_000 }, (_, index) => `"k${index}":1`).join(",")}}`;
let told: { readonly text: string; readonly type: string };
const provider = Bun.serve({
	port: 0,
	hostname: "127.0.0.1",
	fetch: () => new Response(told.text, { headers: { "content-type": told.type } }),
});
let server: WatchedServer;

beforeAll(async () => {
	const health = { failures: 1_000_000, probeEveryMs: 60_000 };
	const url = (name: string) => `http://127.0.0.1:${provider.port}/${name}`;
	server = await startWatchedServer({
		config: {
			limits: { failedRequests: 0 },
			upstreams: Object.fromEntries(
				SCRIPTS.map(({ provider: name, settings }) => [
					name,
					{ provider: name, url: url(name), discover: false, health, ...settings },
				]),
			),
			models: {
				entries: Object.fromEntries(
					SCRIPTS.map(({ provider: name, model }) => [
						name,
						{ type: "text", price: { input: 0, output: 0 }, upstreams: [{ upstream: name, model }] },
					]),
				),
			},
		},
	});
});
afterAll(async () => {
	server.remove();
	await provider.stop(true);
});

async function ask(model: string, name: string, stream: boolean): Promise<void> {
	const body = JSON.stringify({ model, stream, messages: [{ role: "user", content: "x" }] });
	const { status, longestTurnMs } = await server.post("/chat/completions", body);
	expect({ model, name, status, isShort: longestTurnMs < LONGEST_TURN_MS, longestTurnMs }).toMatchObject({ isShort: true });
	expect([200, 500]).toContain(status);
}

describe.each(SCRIPTS.map(({ provider: name }) => name))("%s", (model) => {
	test.each([
		["a text of 60 MB", `{"choices":[{"message":{"role":"assistant","content":"${"a".repeat(60 * MB)}"}}]}`],
		[
			"entries",
			`{"id":"x","choices":${list("{}", 300_000)},"candidates":${list("{}", 300_000)},"message":{"content":${list("{}", 200_000)}}}`,
		],
		["parts", `{"type":"message","role":"assistant","content":${list('{"type":"text","text":"a"}', 200_000)}}`],
		["lists in lists", "[".repeat(5 * MB)],
		["keys", keys],
	])("an answer stays short of a turn: %s", async (name, text) => {
		told = { text, type: "application/json" };
		await ask(model, name, false);
	});

	test.each([
		["a line without an end", `data: ${"a".repeat(20 * MB)}`],
		["comments", ":\n".repeat(5 * MB)],
		["many events", "data: {}\n\n".repeat(200_000)],
		["lines of one event", `data: {"a":[\n${"data:1,\n".repeat(700_000)}data:1]}\n\n`],
		["keys", `data: ${keys}\n\n`],
		["entries", `data: {"choices":${list("{}", 600_000)},"candidates":${list("{}", 300_000)}}\n\n`],
		["a text of 15 MB", `data: {"choices":[{"index":0,"delta":{"content":"${"a".repeat(15 * MB)}"}}]}\n\n`],
	])("a stream stays short of a turn: %s", async (name, text) => {
		for (const type of ["text/event-stream", "application/vnd.amazon.eventstream"]) {
			told = { text, type };
			await ask(model, name, true);
		}
	});
});
