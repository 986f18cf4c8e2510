/** Events of an upstream that nest deeper, or are wider, than any answer: its fault, on every route of conversations, whole and streamed. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { HELLO, pricedModel } from "../support/chat-bodies.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";

let upstream: ScriptedUpstream;
let gate: RunningGateway;

beforeAll(async () => {
	upstream = startScriptedUpstream();
	gate = await startGateway({
		config: {
			upstreams: { scripted: upstreamEntry(upstream.url, { health: { failures: 1_000, probeEveryMs: 60_000 } }) },
			models: { entries: { priced: pricedModel(["scripted"]) } },
			limits: { failedRequests: 0 },
		},
	});
});
afterAll(async () => {
	await gate.stop();
	await upstream.stop();
});

const ROUTES = [
	["/chat/completions", { model: "priced", messages: HELLO }],
	["/responses", { model: "priced", input: "Hello" }],
	["/messages", { model: "priced", max_tokens: 50, messages: HELLO }],
] as const;
const deep = (levels: number) => `${"[".repeat(levels)}1${"]".repeat(levels)}`;
const chunk = (more: string) =>
	`{"id":"x","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}]${more}}`;

for (const levels of [600, 5_000, 200_000])
	test.each(ROUTES)(
		`an event ${levels} levels deep on %s is a failure of the upstream, and nothing of ours is named`,
		async (path, body) => {
			for (const events of [[chunk(`,"deep":${deep(levels)}`)], [chunk(""), chunk(`,"deep":${deep(levels)}`)]]) {
				const raw = [...events, "[DONE]"].map((event) => `data: ${event}\n\n`).join("");
				upstream.next({ raw, headers: { "content-type": "text/event-stream" } });
				const answer = await gate.call("POST", path, { ...body, stream: true });
				const text = await answer.text();
				expect(text).not.toContain("levels deep");
				expect(answer.status === 200 ? text.includes("error") : answer.status >= 500, text.slice(0, 300)).toBe(true);
				expect(gate.gateway.budgets.holdsOpen).toBe(0);
			}
		},
	);

test.each(ROUTES)("an event of more values than an event has is a failure of the upstream: %s", async (path, body) => {
	const texts = `[${Array.from({ length: 210_000 }, (_, index) => `"s${index}"`).join(",")}]`;
	const raw = `data: ${chunk(`,"wide":${texts}`)}\n\ndata: [DONE]\n\n`;
	upstream.next({ raw, headers: { "content-type": "text/event-stream" } });
	const answer = await gate.call("POST", path, { ...body, stream: true });
	const text = await answer.text();
	expect(
		answer.status === 200 ? /INFERENCE_FAILED|api_error|server_error/.test(text) : answer.status >= 500,
		text.slice(0, 300),
	).toBe(true);
});
