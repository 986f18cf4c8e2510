/** No input makes one turn of the event loop long: whatever a caller sends, other requests go on. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { LONGEST_TURN_MS, startWatchedServer, type WatchedServer } from "../support/watched-server.ts";

let upstream: ScriptedUpstream;
let server: WatchedServer;

beforeAll(async () => {
	upstream = startScriptedUpstream();
	server = await startWatchedServer({
		config: {
			limits: { failedRequests: 0 },
			upstreams: { scripted: { url: upstream.url, discover: false } },
			models: {
				entries: {
					m: { type: "text", price: { input: 0, output: 0 }, upstreams: [{ upstream: "scripted", model: "m" }] },
					e: { type: "embedding", upstreams: [{ upstream: "scripted", model: "e" }], embedding: { dimensions: 4 } },
				},
			},
		},
	});
});
afterAll(async () => {
	server.remove();
	await upstream.stop();
});

const USER = '{"role":"user","content":"x"}';
const list = (element: string, count: number) => `[${Array(count).fill(element).join(",")}]`;
const members = (count: number, value: string) =>
	`{${Array.from({ length: count }, (_, index) => `"k${index}":${value}`).join(",")}}`;
/** A body of a route of conversations, whose list of messages is this. */
const BODIES: Readonly<Record<string, (messages: string, more?: string) => string>> = {
	"/chat/completions": (messages, more = "") => `{"model":"m","messages":${messages}${more}}`,
	"/responses": (messages, more = "") => `{"model":"m","input":${messages}${more}}`,
	"/messages": (messages, more = "") => `{"model":"m","max_tokens":5,"messages":${messages}${more}}`,
	"/messages/count_tokens": (messages, more = "") => `{"model":"m","messages":${messages}${more}}`,
};
const MANY = 120_000;

async function send(path: string, name: string, body: string): Promise<number> {
	const { status, text, longestTurnMs } = await server.post(path, body);
	expect({ path, name, status, isShort: longestTurnMs < LONGEST_TURN_MS, longestTurnMs, text: text.slice(0, 200) }).toMatchObject(
		{
			isShort: true,
		},
	);
	return status;
}

describe.each(Object.entries(BODIES))("%s stays short of a turn", (path, body) => {
	test.each([
		["messages of another type", body(list("1", MANY))],
		["messages without anything", body(list("{}", MANY))],
		["parts of another type", body(`[{"role":"user","content":${list("1", MANY)}}]`)],
		["parts that lack something", body(`[{"role":"user","content":${list('{"type":"text"}', 60_000)}}]`)],
		[
			"one wrong part behind many good ones",
			body(`[{"role":"user","content":[${list('{"type":"text","text":"a"}', 30_000).slice(1, -1)},1]}]`),
		],
		["tools of another type", body(`[${USER}]`, `,"tools":${list("1", MANY)}`)],
		["more values than a body may have", body(list("1", 1_000_000))],
		["lists in lists", body(`[${USER}]`, `,"z":${list("[".repeat(500) + "]".repeat(500), 4_000)}`)],
		["more keys than a body may have", body(`[${USER}]`, `,"z":${members(250_000, "1")}`)],
		["a closed object with many keys", body(`[${USER}]`, `,"response_format":${members(60_000, "1")},"temperature":"x"`)],
	])("%s", async (name, text) => {
		expect([200, 400]).toContain(await send(path, name, text));
	});

	test.each([
		["many messages", body(list(USER, 30_000))],
		["many parts", body(`[{"role":"user","content":${list('{"type":"text","text":"a"}', 30_000)}}]`)],
		["many unknown keys", body(`[${USER}]`, `,"z":${members(60_000, "1")}`)],
	])("%s of the right types", async (name, text) => {
		expect(await send(path, name, text)).toBe(200);
	});
});

describe("other routes stay short of a turn", () => {
	test.each([
		["/chat/completions", "stop", `{"model":"m","messages":[${USER}],"stop":${list("1", MANY)}}`],
		["/chat/completions", "stop_token_ids", `{"model":"m","messages":[${USER}],"stop_token_ids":${list('"a"', MANY)}}`],
		["/chat/completions", "metadata", `{"model":"m","messages":[${USER}],"metadata":${members(60_000, "1")}}`],
		["/embeddings", "numbers", `{"model":"e","input":${list("1", MANY)}}`],
		["/embeddings", "texts", `{"model":"e","input":${list('"a"', MANY)}}`],
		["/embeddings", "lists of numbers", `{"model":"e","input":${list("[1,2]", 60_000)}}`],
		["/embeddings", "more numbers than a body may have", `{"model":"e","input":${list("1", 3_000_000)}}`],
		["/image/multi-edit", "images", `{"prompt":"x","images":${list("1", MANY)}}`],
		["/image/edit", "image", `{"prompt":"x","image":${list("1", MANY)}}`],
		["/image/generate", "seed", `{"prompt":"x","seed":${list("1", MANY)}}`],
		["/audio/speech", "input", `{"input":${list("1", MANY)}}`],
		["/crypto/rpc/base-mainnet", "items", list("1", MANY)],
		["/api_keys", "restrictions", `{"apiKeyType":"INFERENCE","description":"","restrictions":{"models":${list("1", MANY)}}}`],
	])("%s: %s of another type", async (path, name, text) => {
		expect([400, 404, 503]).toContain(await send(path, name, text));
	});
});
