import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { readyEncoder, ScriptedSpeechEngine } from "../../../test/support/audio-engines.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../../../test/support/running-gateway.ts";
import {
	audioOf,
	type ScriptedAudioUpstream,
	startScriptedAudioUpstream,
} from "../../../test/support/scripted-audio-upstream.ts";

let gate: RunningGateway;
let upstream: ScriptedAudioUpstream;
const engine = new ScriptedSpeechEngine();

beforeAll(async () => {
	upstream = startScriptedAudioUpstream();
	const target = (more: object = {}) => [{ upstream: "voices", weight: 1, order: 0, ...more }];
	gate = await startGateway({
		audio: { speech: engine, encoder: await readyEncoder() },
		config: {
			upstreams: { voices: upstreamEntry(upstream.url, { key: "up-secret" }) },
			models: {
				entries: {
					"tts-orpheus": { upstreams: target({ model: "orpheus-3b", voices: { tara: "Tara-EN" } }) },
					"tts-qwen3-0-6b": { upstreams: target({ formats: ["wav"] }) },
					"tts-xai-v1": { upstreams: target() },
				},
			},
		},
	});
});

afterEach(() => {
	upstream.reset();
	engine.diction = {};
	engine.requests.length = 0;
});

afterAll(async () => {
	await gate.stop();
	await upstream.stop();
});

const speak = (body: object) => gate.call("POST", "/audio/speech", body);
const lastPost = async () => (await gate.posts()).at(-1);
const isMp3 = (bytes: Uint8Array) => bytes[0] === 0x49 || (bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe0) === 0xe0);

test("the built-in voice speaks by default: whole, as mp3, with its length", async () => {
	const response = await speak({ input: "Hello there." });
	expect(response.status).toBe(200);
	expect(response.headers.get("content-type")).toBe("audio/mpeg");
	const bytes = await response.bytes();
	expect(isMp3(bytes)).toBe(true);
	expect(Number(response.headers.get("content-length"))).toBe(bytes.length);
	expect(response.headers.get("content-encoding")).toBeNull();
	expect(response.headers.get("x-service-model-id")).toBe("tts-kokoro");
	expect(response.headers.get("x-service-model-router")).toBe("embedded");
	expect(response.headers.get("x-service-balance-usd")).not.toBeNull();
	expect(response.headers.get("x-ratelimit-limit-requests")).toBe("60");
	expect(engine.requests[0]).toMatchObject({ text: "Hello there.", voice: "af_sky", speed: 1 });
});

test("a price is that of the characters: code points, at the model's price", async () => {
	const before = await gate.balance();
	expect((await speak({ input: "a😀é" })).status).toBe(200);
	// 3 characters at 3.5 USD a million.
	expect(await lastPost()).toMatchObject({ status: 200, model: "tts-kokoro", upstream: "embedded", price: 10_500 });
	expect(before - (await gate.balance())).toBe(10_500);
});

test.each([
	["mp3", "audio/mpeg"],
	["opus", "audio/opus"],
	["aac", "audio/aac"],
	["flac", "audio/flac"],
	["wav", "audio/wav"],
	["pcm", "audio/pcm"],
])("%s comes as %s, whole and streamed", async (format, type) => {
	for (const streaming of [false, true]) {
		const response = await speak({ input: "One. Two. Three.", response_format: format, streaming });
		expect([response.status, response.headers.get("content-type")]).toEqual([200, type]);
		const bytes = await response.bytes();
		expect(bytes.length).toBeGreaterThan(500);
		if (format === "pcm") expect(bytes.length).toBe(16 * 2_400 * 2);
	}
});

test("a speed beyond the voices' own range makes the audio shorter or longer all the same", async () => {
	const length = async (speed: number) =>
		(await (await speak({ input: "One. Two.", response_format: "pcm", speed })).bytes()).length;
	const plain = await length(1);
	expect((await length(2)) / plain).toBeCloseTo(0.5, 1);
	expect((await length(0.5)) / plain).toBeCloseTo(2, 0);
	await speak({ input: "One.", speed: 1.1 });
	expect(engine.requests.at(-1)?.speed).toBe(1.1);
});

test("streaming sends the first sentence while the second is not spoken yet, and posts before the end", async () => {
	const second = Promise.withResolvers<void>();
	engine.diction = { afterFirst: second.promise };
	const response = await speak({ input: "The first one. The second one.", response_format: "pcm", streaming: true });
	expect(response.status).toBe(200);
	expect(response.headers.get("content-length")).toBeNull();
	const reader = response.body?.getReader();
	let length = (await reader?.read())?.value?.length ?? 0;
	expect(length).toBeGreaterThan(0);
	expect(length).toBeLessThanOrEqual(15 * 2_400 * 2);
	expect(engine.running).toBe(1);
	second.resolve();
	for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) length += read.value.length;
	expect(length).toBe(30 * 2_400 * 2);
	expect(await lastPost()).toMatchObject({ status: 200, price: 30 * 3_500 });
});

test("an upstream's bytes pass through, under its own names", async () => {
	const response = await speak({
		model: "tts-orpheus",
		input: "Hello.",
		voice: "tara",
		temperature: 0.5,
		prompt: "x",
		top_p: 0.5,
	});
	expect(response.status).toBe(200);
	expect(await response.bytes()).toEqual(audioOf("Hello."));
	expect(response.headers.get("x-service-model-router")).toBe("voices");
	const [sent] = upstream.requests;
	// Orpheus takes a temperature, and neither prompt nor top_p.
	expect(sent?.body).toEqual({
		model: "orpheus-3b",
		input: "Hello.",
		voice: "Tara-EN",
		response_format: "mp3",
		temperature: 0.5,
	});
	expect(sent?.headers.get("authorization")).toBe("Bearer up-secret");
	expect(sent?.headers.get("x-request-id")).toBe(response.headers.get("x-request-id"));
	expect(await lastPost()).toMatchObject({ model: "tts-orpheus", upstream: "voices", price: 6 * 62_500 });
});

test("prompt, temperature, top_p and language go where the model takes them", async () => {
	upstream.next({ type: "audio/mpeg" });
	await speak({
		model: "tts-qwen3-0-6b",
		input: "Hi.",
		prompt: "softly",
		temperature: 1,
		top_p: 0.9,
		language: "English",
		speed: 2,
	});
	expect(upstream.requests[0]?.body).toMatchObject({
		instructions: "softly",
		temperature: 1,
		top_p: 0.9,
		language: "English",
		speed: 2,
		response_format: "wav",
	});
	await speak({ model: "tts-orpheus", input: "Hi.", language: "English" });
	expect(upstream.requests[1]?.body.language).toBeUndefined();
});

test("what a server makes in another format is made into the one that was asked for", async () => {
	const wav = await (await speak({ input: "A text to be heard.", response_format: "wav" })).bytes();
	upstream.next({ raw: wav, type: "audio/wav" });
	const made = await speak({ model: "tts-qwen3-0-6b", input: "A text.", response_format: "flac" });
	expect(made.headers.get("content-type")).toBe("audio/flac");
	expect(new TextDecoder().decode((await made.bytes()).subarray(0, 4))).toBe("fLaC");
	// One that was asked for mp3 and says that it is wav.
	upstream.next({ raw: wav, type: "audio/wav" });
	const heard = await speak({ model: "tts-orpheus", input: "A text.", streaming: true });
	expect(isMp3(await heard.bytes())).toBe(true);
	// Ones that do not say it.
	upstream.next({ raw: wav, type: "audio/mpeg" });
	expect(isMp3(await (await speak({ model: "tts-orpheus", input: "A text." })).bytes())).toBe(true);
	upstream.next({ raw: wav, type: "application/octet-stream" });
	const samples = await (await speak({ model: "tts-orpheus", input: "A text.", response_format: "pcm" })).bytes();
	expect(samples.length).toBeGreaterThan(wav.length / 2);
	expect(new TextDecoder().decode(samples.subarray(0, 4))).not.toBe("RIFF");
});

test("OpenAI's models and voices mean the ones that stand for them", async () => {
	for (const model of ["tts-1", "tts-1-hd", "gpt-4o-mini-tts"])
		expect((await speak({ model, input: "Hi.", voice: "alloy" })).status).toBe(200);
	expect(engine.requests.map(({ voice }) => voice)).toEqual(["af_alloy", "af_alloy", "af_alloy"]);
	const names = [
		"alloy",
		"ash",
		"ballad",
		"coral",
		"echo",
		"fable",
		"onyx",
		"nova",
		"sage",
		"shimmer",
		"verse",
		"marin",
		"cedar",
	];
	for (const voice of names) expect([voice, (await speak({ input: "Hi.", voice })).status]).toEqual([voice, 200]);
	expect((await speak({ model: "tts-xai-v1", input: "Hi.", voice: "nova" })).status).toBe(200);
	expect(["ara", "eve", "leo", "rex", "sal"]).toContain(String(upstream.requests[0]?.body.voice));
});

test("each model has a default voice, and case counts", async () => {
	await speak({ model: "tts-xai-v1", input: "Hi." });
	expect(upstream.requests[0]?.body.voice).toBe("ara");
	expect((await speak({ model: "tts-xai-v1", input: "Hi.", voice: "Ara" })).status).toBe(400);
});

test("4096 characters are spoken, without a space or of two code units each", async () => {
	for (const input of [
		"a".repeat(4096),
		"😀".repeat(4095).concat("a"),
		"\ud800 is half of a pair",
		"<speak>Hi <break/></speak>",
		"a\u0000b",
	]) {
		const response = await speak({ model: "tts-orpheus", input });
		expect(response.status).toBe(200);
		await response.bytes();
	}
	expect(String(upstream.requests[2]?.body.input)).toBe("\ufffd is half of a pair");
});

test("OpenAI's names are taken: instructions as the prompt, and stream", async () => {
	const response = await speak({ input: "Hello there.", instructions: "softly", stream: true });
	expect(response.status).toBe(200);
	expect(response.headers.get("content-length")).toBeNull();
	expect(isMp3(await response.bytes())).toBe(true);
});

test("stream_format sse: the audio in events, whose last comes when it is paid", async () => {
	const response = await speak({ input: "Hello there. And again.", stream_format: "sse", response_format: "wav" });
	expect(response.headers.get("content-type")).toBe("text/event-stream");
	const events = (await response.text())
		.split("\n\n")
		.filter((event) => event !== "")
		.map((event) => JSON.parse(event.slice(6)) as { type: string; audio?: string });
	expect(events.at(-1)).toEqual({ type: "speech.audio.done" });
	expect(events.slice(0, -1).every(({ type }) => type === "speech.audio.delta")).toBe(true);
	const audio = Buffer.concat(events.map((event) => Buffer.from(event.audio ?? "", "base64")));
	expect(audio.subarray(0, 4).toString("latin1")).toBe("RIFF");
	expect((await lastPost())?.status).toBe(200);
	const plain = await speak({ input: "Hello there.", stream_format: "audio" });
	expect(plain.headers.get("content-type")).toBe("audio/mpeg");
});
