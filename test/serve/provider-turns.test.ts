/** What a provider's package is given to read makes no turn of the event loop long. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { IMAGE_SCRIPTS } from "../support/providers/image-scripts.ts";
import { SCRIPTS } from "../support/providers/index.ts";
import { ADMIN_KEY } from "../support/served.ts";
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

/** Providers whose sound stands in JSON. */
const SPEAKERS = [
	["google", "gemini-2.5-flash-preview-tts"],
	["mistral", "voxtral-mini-tts-2603"],
] as const;
const speaker = (upstream: string, model: string) => ({
	type: "tts",
	speech: { voices: ["ann"], perMillionCharacters: 0 },
	upstreams: [{ upstream, model }],
});

const PAINTERS = IMAGE_SCRIPTS.map(({ provider: name }) => name);

beforeAll(async () => {
	const health = { failures: 1_000_000, probeEveryMs: 60_000 };
	const url = (name: string) => `http://127.0.0.1:${provider.port}/${name}`;
	server = await startWatchedServer({
		config: {
			limits: { failedRequests: 0 },
			timeouts: { imageMs: 5_000 },
			upstreams: Object.fromEntries([
				...SCRIPTS.map(({ provider: name, settings }) => [
					name,
					{ provider: name, url: url(name), discover: false, health, ...settings },
				]),
				...IMAGE_SCRIPTS.map(({ provider: name, options }) => [
					`${name}-pictures`,
					{ provider: name, url: url(name), key: "k", discover: false, health, ...(options ? { options } : {}) },
				]),
			]),
			models: {
				entries: {
					...Object.fromEntries(
						SCRIPTS.map(({ provider: name, model }) => [
							name,
							{ type: "text", price: { input: 0, output: 0 }, upstreams: [{ upstream: name, model }] },
						]),
					),
					...Object.fromEntries(
						IMAGE_SCRIPTS.map(({ provider: name, model }) => [
							`${name}-painter`,
							{ type: "image", image: { usd: 0 }, upstreams: [{ upstream: `${name}-pictures`, model }] },
						]),
					),
					...Object.fromEntries(SPEAKERS.map(([name, model]) => [`${name}-voice`, speaker(name, model)])),
				},
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

/** A head of 44 bytes and samples (Multimedia Programming Interface 1.0, WAVE). */
function wave(samples: Uint8Array): Buffer {
	const head = Buffer.from("RIFF....WAVEfmt \x10\0\0\0\x01\0\x01\0\xc0\x5d\0\0\x80\xbb\0\0\x02\0\x10\0data....", "latin1");
	head.writeUInt32LE(samples.length + 36, 4);
	head.writeUInt32LE(samples.length, 40);
	return Buffer.concat([head, samples]);
}
const SAMPLES = Buffer.from(Uint8Array.from({ length: 30 * MB }, (_, at) => (at * 7) % 251));
const inGoogle = (data: string, mimeType: string) =>
	`{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"${mimeType}","data":"${data}"}}]}}]}`;

async function sound(name: string, answer: string): Promise<{ readonly status: number; readonly bytes: Uint8Array }> {
	told = { text: answer, type: "application/json" };
	await server.look();
	const body = JSON.stringify({ model: `${name}-voice`, voice: "ann", input: "Hello.", response_format: "wav" });
	const headers = { authorization: `Bearer ${ADMIN_KEY}`, "content-type": "application/json" };
	const spoken = await fetch(`${server.served.url}/api/v1/audio/speech`, { method: "POST", headers, body });
	const bytes = await spoken.bytes();
	const { longestTurnMs } = await server.look();
	expect({ name, isShort: longestTurnMs < LONGEST_TURN_MS, longestTurnMs }).toMatchObject({ isShort: true });
	return { status: spoken.status, bytes };
}

test.each([
	["google", "samples", inGoogle(SAMPLES.toString("base64"), "audio/L16;codec=pcm;rate=24000")],
	["google", "a file", inGoogle(wave(SAMPLES).toString("base64"), "audio/wav")],
	["mistral", "a file", `{"audio_data":"${wave(SAMPLES).toString("base64")}"}`],
	["mistral", "a file, as PHP writes it", `{"audio_data":"${wave(SAMPLES).toString("base64").replaceAll("/", "\\/")}"}`],
])("the sound of %s comes whole, and stays short of a turn: %s of 30 MB", async (name, _, answer) => {
	const { status, bytes } = await sound(name, answer);
	expect(status).toBe(200);
	expect(Buffer.from(bytes).equals(wave(SAMPLES))).toBe(true);
});

test.each([
	["two long texts", `{"audio_data":"${"A".repeat(100_000)}","z":"${"A".repeat(100_000)}"}`],
	["bad base64", `{"audio_data":"${"!".repeat(40 * MB)}"}`],
	["base64 with a bad end", `{"audio_data":"${"A".repeat(40 * MB)}!"}`],
	["a text elsewhere", `{"audio_data":"","z":"${"A".repeat(40 * MB)}"}`],
	["more than a sound is", `{"audio_data":"${"A".repeat(100 * MB)}"}`],
	["entries", `{"audio_data":"","z":${list("{}", 300_000)}}`],
	["lists in lists", "[".repeat(5 * MB)],
	["keys", keys],
])("an answer without a sound stays short of a turn: %s", async (_, answer) => {
	for (const [name] of SPEAKERS) expect((await sound(name, answer)).status).toBe(500);
});

const inEach = (value: string) =>
	`{"id":"x","status":"succeeded","data":${value},"images":${value},"output":${value},"candidates":${value},"result":${value}}`;

describe.each(PAINTERS)("an answer of %s without a picture stays short of a turn:", (name) => {
	test.each([
		["numbers", inEach(list("1", 150_000))],
		["entries", inEach(list("{}", 150_000))],
		["addresses", `{"data":${list('{"url":"x"}', 90_000)},"images":${list('{"url":"x"}', 90_000)}}`],
		["keys", inEach(`{${Array.from({ length: 60_000 }, (_, index) => `"k${index}":{"a":1}`).join(",")}}`)],
		["text of 25 MB", "A".repeat(25 * MB)],
	])("%s", async (what, text) => {
		for (const type of ["application/json", "text/plain"]) {
			told = { text, type };
			const body = JSON.stringify({ model: `${name}-painter`, prompt: "x", safe_mode: false });
			const { status, longestTurnMs } = await server.post("/image/generate", body);
			expect({ name, what, isShort: longestTurnMs < LONGEST_TURN_MS, longestTurnMs }).toMatchObject({ isShort: true });
			expect(status).toBe(500);
		}
	});
});
