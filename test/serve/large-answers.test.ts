/** Answers at the bounds of their size, and the work that makes them, leave the event loop its turns. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { crc32, deflateSync } from "node:zlib";
import { type ScriptedUpstream, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { until } from "../support/until.ts";
import { LONGEST_TURN_MS, startWatchedServer, type WatchedServer } from "../support/watched-server.ts";

const MB = 1_000_000;
let upstream: ScriptedUpstream;
let server: WatchedServer;
/** What the other upstream answers. */
let told: () => Response;
const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => told() });

beforeAll(async () => {
	upstream = startScriptedUpstream();
	server = await startWatchedServer({
		config: {
			limits: { failedRequests: 0 },
			web: { allowPrivateHosts: [`127.0.0.1:${other.port}`], robots: false },
			upstreams: {
				scripted: { url: upstream.url, discover: false },
				other: { url: `http://127.0.0.1:${other.port}/v1`, discover: false },
			},
			models: {
				entries: {
					m: { type: "text", price: { input: 0, output: 0 }, upstreams: [{ upstream: "scripted", model: "m" }] },
					thinking: {
						type: "text",
						price: { input: 0, output: 0 },
						thinkBlocks: "inline",
						upstreams: [{ upstream: "scripted", model: "m" }],
					},
					e: {
						type: "embedding",
						upstreams: [{ upstream: "other", model: "e" }],
						embedding: { dimensions: 4096, maxInputTokens: 8192 },
					},
					t: { type: "asr", upstreams: [{ upstream: "other", model: "t" }] },
				},
			},
		},
	});
});
afterAll(async () => {
	server.remove();
	await upstream.stop();
	await other.stop(true);
});

const json = (value: unknown) => new Response(JSON.stringify(value), { headers: { "content-type": "application/json" } });

async function send(path: string, body: string | FormData, leastChars: number): Promise<string> {
	const { status, text, longestTurnMs } = await server.post(path, body);
	expect({ path, status, longestTurnMs, isShort: longestTurnMs < LONGEST_TURN_MS, text: text.slice(0, 200) }).toMatchObject({
		status: 200,
		isShort: true,
	});
	expect(text.length).toBeGreaterThan(leastChars);
	return text;
}

function formOf(fields: Readonly<Record<string, string>>, file: Blob, name: string): FormData {
	const form = new FormData();
	for (const [field, value] of Object.entries(fields)) form.set(field, value);
	form.set("file", file, name);
	return form;
}

test.each([
	["/chat/completions", '{"model":"m","messages":[{"role":"user","content":"x"}]}', 9 * MB],
	["/chat/completions", '{"model":"thinking","messages":[{"role":"user","content":"x"}]}', 9 * MB],
	["/responses", '{"model":"m","input":"x","include":["message.output_text.logprobs"]}', 100],
	["/messages", '{"model":"m","max_tokens":5,"messages":[{"role":"user","content":"x"}]}', 100],
])("%s with the log probabilities of 13,000 tokens", async (path, body, leastChars) => {
	const candidate = '{"token":"abc","logprob":-0.123456}';
	const token = `{"token":"abc","logprob":-0.123456,"top_logprobs":[${Array(20).fill(candidate).join(",")}]}`;
	const choice = `{"index":0,"message":{"role":"assistant","content":"a<think>b</think>"},"finish_reason":"stop","logprobs":{"content":[${Array(13_000).fill(token).join(",")}]}}`;
	upstream.always({
		raw: `{"object":"chat.completion","choices":[${choice}],"usage":{"prompt_tokens":1,"completion_tokens":13000,"total_tokens":13001}}`,
		headers: { "content-type": "application/json" },
	});
	await send(path, body, leastChars);
});

test.each(["float", "base64"])("2,048 vectors of 4,096 numbers as %s", async (format) => {
	const vector = Array(4_096).fill(-0.0123456789);
	const data = Array.from({ length: 2_048 }, (_, index) => ({ object: "embedding", index, embedding: vector }));
	told = () => json({ object: "list", data, usage: { prompt_tokens: 1, total_tokens: 1 } });
	const input = JSON.stringify(Array(2_048).fill("x"));
	await send("/embeddings", `{"model":"e","encoding_format":"${format}","input":${input}}`, 40 * MB);
});

test.each(["json", "text"])("a text of 25 MB that is twice as long in JSON, as %s", async (format) => {
	const text = '"\n'.repeat(13 * MB);
	await send("/augment/text-parser", formOf({ response_format: format }, new Blob([text]), "a.txt"), 25 * MB);
});

test("a page of 10 MB", async () => {
	const html = `<html><body><p>${'a "b" '.repeat(1_600_000)}</p></body></html>`;
	told = () => new Response(html, { headers: { "content-type": "text/html" } });
	await send("/augment/scrape", JSON.stringify({ url: `http://127.0.0.1:${other.port}/x` }), 9 * MB);
});

test.each(["srt", "vtt", "verbose_json"])("62,000 segments as %s", async (format) => {
	const segments = Array.from({ length: 62_000 }, (_, at) => ({
		text: `words now and then ${"a".repeat(50)}`,
		start: at,
		end: at + 1,
	}));
	const form = () => formOf({ model: "t", response_format: format }, new Blob([tone()]), "a.wav");
	told = () => json({ text: "a", language: "en", segments: [] });
	await until(async () => (await server.post("/audio/transcriptions", form())).status !== 503, "the audio encoder is here");
	told = () => json({ text: "a", language: "en", segments });
	await send("/audio/transcriptions", form(), 5 * MB);
});

test("a picture of noise that is enlarged to 33 megapixels", async () => {
	const image = Buffer.from(noise(2_880)).toString("base64");
	await send("/image/upscale", JSON.stringify({ image, scale: 2 }), 30 * MB);
});

/** A second of it, as WAVE. */
function tone(): Uint8Array<ArrayBuffer> {
	const bytes = Buffer.alloc(44 + 32_000);
	bytes.write("RIFF", 0, "latin1");
	bytes.writeUInt32LE(36 + 32_000, 4);
	bytes.write("WAVEfmt ", 8, "latin1");
	bytes.writeUInt32LE(16, 16);
	bytes.writeUInt16LE(1, 20);
	bytes.writeUInt16LE(1, 22);
	bytes.writeUInt32LE(16_000, 24);
	bytes.writeUInt32LE(32_000, 28);
	bytes.writeUInt16LE(2, 32);
	bytes.writeUInt16LE(16, 34);
	bytes.write("data", 36, "latin1");
	bytes.writeUInt32LE(32_000, 40);
	for (let at = 0; at < 16_000; at++) bytes.writeInt16LE(Math.round(Math.sin(at / 8) * 20_000), 44 + 2 * at);
	return bytes;
}

/** A square picture in PNG that cannot be packed. */
function noise(side: number): Uint8Array {
	const rows = Buffer.alloc(side * (side * 3 + 1));
	for (let y = 0; y < side; y++)
		crypto.getRandomValues(new Uint8Array(rows.buffer, rows.byteOffset + y * (side * 3 + 1) + 1, side * 3));
	const head = Buffer.alloc(13);
	head.writeUInt32BE(side);
	head.writeUInt32BE(side, 4);
	head[8] = 8;
	head[9] = 2;
	const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
	return Buffer.concat([
		signature,
		chunk("IHDR", head),
		chunk("IDAT", deflateSync(rows, { level: 0 })),
		chunk("IEND", Buffer.alloc(0)),
	]);
}

function chunk(type: string, data: Buffer): Buffer {
	const bytes = Buffer.alloc(12 + data.length);
	bytes.writeUInt32BE(data.length);
	bytes.write(type, 4, "latin1");
	bytes.set(data, 8);
	bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length);
	return bytes;
}
