/** No input makes one turn of the event loop long: whatever a caller sends, other requests go on. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ScriptedChain, startScriptedChain } from "../support/scripted-chain.ts";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { LONGEST_TURN_MS, startWatchedServer, type WatchedServer } from "../support/watched-server.ts";

const JSON_TYPE = { "content-type": "application/json" };
/** Faulty answers do not take it out. */
const LENIENT = { failures: 1_000_000, probeEveryMs: 60_000 };
let upstream: ScriptedUpstream;
let chain: ScriptedChain;
/** Answers pictures and vectors by this text. */
let told = "";
const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(told, { headers: JSON_TYPE }) });
let server: WatchedServer;

beforeAll(async () => {
	upstream = startScriptedUpstream();
	chain = await startScriptedChain();
	server = await startWatchedServer({
		config: {
			limits: { failedRequests: 0 },
			rpc: { networks: { "ethereum-mainnet": { enabled: true, upstreams: [{ url: chain.url, health: LENIENT }] } } },
			upstreams: {
				scripted: { url: upstream.url, discover: false, health: LENIENT },
				other: { url: `http://127.0.0.1:${other.port}/v1`, discover: false, health: LENIENT },
			},
			models: {
				entries: {
					thinking: {
						type: "text",
						price: { input: 0, output: 0 },
						thinkBlocks: "inline",
						upstreams: [{ upstream: "scripted", model: "m" }],
					},
					repaired: {
						type: "text",
						price: { input: 0, output: 0 },
						responseFormat: "repair",
						upstreams: [{ upstream: "scripted", model: "m" }],
					},
					i: { type: "image", upstreams: [{ upstream: "other", model: "i" }] },
					m: { type: "text", price: { input: 0, output: 0 }, upstreams: [{ upstream: "scripted", model: "m" }] },
					e: { type: "embedding", upstreams: [{ upstream: "other", model: "e" }], embedding: { dimensions: 4 } },
				},
			},
		},
	});
});
afterAll(async () => {
	server.remove();
	await upstream.stop();
	await chain.stop();
	await other.stop(true);
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

const MB = 1_000_000;
const rpcCall = (method: string, params: string, id = 1) => `{"id":${id},"method":"${method}","params":${params}}`;
const batchOf = (item: (index: number) => string) => `[${Array.from({ length: 100 }, (_, index) => item(index)).join(",")}]`;

test.each([
	["numbers", rpcCall("eth_call", list("1", 2.5 * MB))],
	["numbers in a send", rpcCall("eth_sendRawTransaction", list("1", 2.5 * MB))],
	["keys", rpcCall("eth_call", `[${members(60_000, "1")}]`)],
	["escaped strings", rpcCall("eth_call", list('"\\u0061"', 500_000))],
	["filters", batchOf((id) => rpcCall("eth_getLogs", `[{"topics":${list("1", 24_000)}}]`, id))],
	["small filters", batchOf((id) => rpcCall("eth_getLogs", `[{"topics":${list("1", 2_500)}}]`, id))],
	["transactions", batchOf((id) => rpcCall("eth_sendRawTransaction", `["0x02f8${"ab".repeat(24_000)}"]`, id))],
])("calls of a chain stay short of a turn: %s", async (name, text) => {
	for (const headers of [JSON_TYPE, { ...JSON_TYPE, "idempotency-key": name.replaceAll(" ", "-") }]) {
		const { status, longestTurnMs } = await server.post("/crypto/rpc/ethereum-mainnet", text, headers);
		expect({ name, isShort: longestTurnMs < LONGEST_TURN_MS, longestTurnMs }).toMatchObject({ isShort: true });
		expect([200, 400, 502]).toContain(status);
	}
});

test.each([
	["numbers", list("1", 200_000)],
	["objects", list('{"a":"0x1","b":[1,2]}', 19_000)],
	["bytes", `"0x${"ab".repeat(200_000)}"`],
	["escapes", `"${"\\n".repeat(200_000)}"`],
])("a batch of a chain stays short of a turn: %s, 40 MB in all", async (name, result) => {
	const item = ({ id }: { readonly id: number }) => `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
	chain.always(({ items }) => ({ raw: `[${items.map(item).join(",")}]` }));
	const { status, longestTurnMs, text } = await server.post(
		"/crypto/rpc/ethereum-mainnet",
		batchOf((id) => rpcCall("eth_call", "[]", id)),
	);
	expect({ name, isShort: longestTurnMs < LONGEST_TURN_MS, longestTurnMs }).toMatchObject({ isShort: true });
	expect([status, text.length > 30 * MB]).toEqual([200, true]);
	chain.always({});
});

describe.each(Object.entries(BODIES))("%s stays short of a turn with", (path, body) => {
	const said = (text: string) => body(`[{"role":"user","content":"${text}"}]`);
	test.each([
		["a text of 60 MB", 200, said("a".repeat(60 * MB))],
		["texts of 200 KB", 200, body(list(`{"role":"user","content":"${"a".repeat(200_000)}"}`, 300))],
		["line ends of 60 MB", 200, said("\\n".repeat(30 * MB))],
		["escaped quotes of 60 MB", 200, said('\\"'.repeat(30 * MB))],
		["backslashes of 60 MB", 200, said("\\\\".repeat(30 * MB))],
		["characters of 60 MB", 200, said("é".repeat(30 * MB))],
		["a key of 60 MB", 200, body(`[${USER}]`, `,"${"k".repeat(60 * MB)}":1`)],
		["short texts of 60 MB", 400, body(list(`{"role":"user","content":"${"a".repeat(10_000)}"}`, 6_000))],
		["white space of 60 MB", 400, body(`[${USER}]`, " ".repeat(60 * MB))],
		["a number of 60 MB", 400, body(`[${USER}]`, `,"z":${"1".repeat(60 * MB)}`)],
		["a text of 60 MB without an end", 400, said("a".repeat(60 * MB)).slice(0, -10)],
	])("%s", async (name, status, text) => {
		expect(await send(path, name, text)).toBe(status);
	});
});

test("large bodies of other routes stay short of a turn", async () => {
	const call = (input: string) =>
		`{"model":"m","max_tokens":5,"messages":[${USER},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{"a":"${input}"}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"a"}]}]}`;
	for (const [path, name, text] of [
		["/responses", "instructions of 60 MB", `{"model":"m","input":"x","instructions":"${"a".repeat(60 * MB)}"}`],
		[
			"/responses",
			"thoughts of 15 MB",
			`{"model":"m","input":[{"type":"reasoning","summary":${list(`"${"\\n".repeat(500_000)}"`, 15)}},${USER}]}`,
		],
		["/messages", "arguments of 15 MB", call("\\n".repeat(7 * MB))],
		["/embeddings", "a text of 16 MB", `{"model":"e","input":"${"a".repeat(16 * MB)}"}`],
		["/embeddings", "line ends of 16 MB", `{"model":"e","input":"${"\\n".repeat(8 * MB)}"}`],
		["/image/upscale", "bad base64 of 33 MB", `{"image":"${"!".repeat(33 * MB)}"}`],
		["/image/upscale", "base64 with a bad end", `{"image":"${"A".repeat(33 * MB)}!"}`],
		["/image/upscale", "line ends of 33 MB", `{"image":"${"\\n".repeat(16 * MB)}"}`],
	] as const)
		expect([400, 500, 503]).toContain(await send(path, name, text));
});

/** What conversations make of an answer, each in its way. */
const READERS = [
	["/chat/completions", `{"model":"m","messages":[${USER}]}`],
	["/chat/completions", `{"model":"m","messages":[${USER}],"service_parameters":{"enable_web_search":"auto"}}`],
	["/chat/completions", `{"model":"thinking","messages":[${USER}]}`],
	["/chat/completions", `{"model":"repaired","messages":[${USER}],"response_format":{"type":"json_object"}}`],
	["/responses", '{"model":"m","input":"x","include":["message.output_text.logprobs"]}'],
	["/messages", `{"model":"m","max_tokens":5,"messages":[${USER}]}`],
] as const;
const message = (members: string) =>
	`{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant",${members}},"finish_reason":"stop"}]}`;

describe("answers of an upstream stay short of a turn:", () => {
	test.each([
		["a text of 60 MB", message(`"content":"${"a".repeat(60 * MB)}"`)],
		["a text of 7 MB", message(`"content":"${"a ".repeat(3.5 * MB)}"`)],
		["line ends", message(`"content":"${"\\n".repeat(200_000)}"`)],
		["line ends of 7 MB", message(`"content":"${"\\n".repeat(3.5 * MB)}"`)],
		["think tags", message(`"content":"${"<think></think>".repeat(450_000)}"`)],
		["beginnings of tags", message(`"content":"${"<".repeat(7 * MB)}"`)],
		["choices", `{"object":"chat.completion","choices":${list("{}", 300_000)}}`],
		["calls", message(`"content":null,"tool_calls":${list('{"function":{}}', 150_000)}`)],
		["parts", message(`"content":${list('{"type":"text","text":"a"}', 150_000)}`)],
		["lists in lists", `{"object":"chat.completion","choices":${"[".repeat(5 * MB)}${"]".repeat(5 * MB)}}`],
		["keys", message(`"content":"a","z":${members(500_000, "1")}`)],
		["JSON of a megabyte", message(`"content":${JSON.stringify(list("[1]", 200_000))}`)],
		["pieces of thoughts", message(`"content":"a","reasoning_details":${list('{"type":"reasoning.text","text":"a"}', 200_000)}`)],
		["sources", message(`"content":"a","annotations":${list('{"type":"url_citation","url_citation":{"url":"u"}}', 150_000)}`)],
		["an error of 7 MB", `{"error":{"message":"${"exceeds ".repeat(900_000)}"}}`],
	])("%s", async (name, raw) => {
		upstream.always({ raw, headers: JSON_TYPE });
		for (const [path, body] of READERS) expect([200, 500]).toContain(await send(path, name, body));
	});
});

const event = (data: string) => `data: ${data}\n\n`;
const delta = (members: string) => event(`{"id":"x","choices":[{"index":0,"delta":${members}}]}`);

describe("streams of an upstream stay short of a turn:", () => {
	test.each([
		["many events", event("{}").repeat(200_000)],
		["many pieces", delta('{"content":"a"}').repeat(50_000)],
		["a piece of 3 MB", delta(`{"content":"${"a".repeat(3 * MB)}"}`)],
		["think tags in one piece", delta(`{"content":"${"<think></think>".repeat(200_000)}"}`)],
		["line ends in one piece", delta(`{"content":"${"\\n".repeat(1.5 * MB)}"}`)],
		["a piece of 15 MB", delta(`{"content":"${"a".repeat(15 * MB)}"}`)],
		["keys", event(members(200_000, "1"))],
		["choices", event(`{"choices":${list("{}", 600_000)}}`)],
		["lists in lists", event(`{"choices":${"[".repeat(MB)}${"]".repeat(MB)}}`)],
		["calls in one piece", delta(`{"tool_calls":${list('{"id":"a","function":{"name":"f","arguments":"{}"}}', 30_000)}}`)],
		[
			"pieces of thoughts in one piece",
			delta(`{"reasoning_details":${list('{"type":"reasoning.text","text":"a","index":0}', 50_000)}}`),
		],
		[
			"sources in one piece",
			delta(`{"content":"a","annotations":${list('{"type":"url_citation","url_citation":{"url":"u"}}', 70_000)}}`),
		],
		["blank lines", "\n".repeat(10 * MB)],
		["comments", ":\n".repeat(5 * MB)],
		["lines of one event", `data:{"choices":[]\n${"data:\n".repeat(500_000)}data:}\n\n`],
		["a line without an end", `data: ${"a".repeat(15 * MB)}`],
	])("%s", async (name, raw) => {
		upstream.always({ raw: `${raw}data: [DONE]\n\n`, headers: { "content-type": "text/event-stream" } });
		for (const [path, body] of READERS.filter(([, body]) => !body.includes("repaired") && !body.includes("auto")))
			expect([200, 500]).toContain(await send(path, name, `${body.slice(0, -1)},"stream":true}`));
	});
});

test.each([
	["entries", `{"data":${list("{}", 300_000)}}`],
	["bad base64", `{"data":[{"b64_json":"${"!".repeat(40 * MB)}"}]}`],
	["base64 with a bad end", `{"data":[{"b64_json":"${"A".repeat(40 * MB)}!"}]}`],
	["line ends", `{"data":[{"b64_json":"${"\\n".repeat(20 * MB)}"}]}`],
	["lists in lists", `{"data":${"[".repeat(5 * MB)}`],
])("pictures of an upstream stay short of a turn: %s", async (name, raw) => {
	told = raw;
	expect([500, 503]).toContain(await send("/images/generations", name, '{"model":"i","prompt":"x"}'));
});

test.each([
	["numbers", `{"data":[{"embedding":${list("0.123", 3 * MB)}}]}`],
	["entries", `{"data":${list('{"embedding":[1,2,3,4]}', 300_000)}}`],
	["lists in lists", `{"data":${"[".repeat(5 * MB)}`],
])("vectors of an upstream stay short of a turn: %s", async (name, raw) => {
	told = raw;
	for (const format of ["float", "base64"])
		expect(await send("/embeddings", name, `{"model":"e","input":"x","encoding_format":"${format}"}`)).toBe(500);
});
