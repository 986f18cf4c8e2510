/** The `openai` package as it is published, speaking and listening: over servers, and over the built-in voices. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import OpenAI, { APIError, toFile } from "openai";
import { AssetStore, loadManifest } from "../../src/assets/index.ts";
import type { FfmpegEncoder } from "../../src/engines/audio/index.ts";
import { measureAudio } from "../../src/engines/audio/measure-audio.ts";
import { EMBEDDED_SPEECH_ASSETS, EmbeddedSpeech } from "../../src/engines/speech/index.ts";
import { silentLog } from "../../src/telemetry/log.ts";
import { readyEncoder } from "../support/audio-engines.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { audioOf, type ScriptedAudioUpstream, startScriptedAudioUpstream } from "../support/scripted-audio-upstream.ts";
import { toneFile } from "../support/tone-file.ts";

const CHECKOUT = join(import.meta.dir, "../..");
const SPEECH = { enabled: true, threads: 1, queue: 64, maxMemoryMb: 2048, idleStopMs: 600_000 };

let gate: RunningGateway;
let upstream: ScriptedAudioUpstream;
let encoder: FfmpegEncoder;
let speech: EmbeddedSpeech;
let client: OpenAI;

beforeAll(async () => {
	upstream = startScriptedAudioUpstream();
	encoder = await readyEncoder();
	const assets = new AssetStore({
		dir: join(CHECKOUT, ".cache/assets"),
		manifest: loadManifest(join(CHECKOUT, "catalog/assets.json")),
		log: silentLog,
	});
	for (const name of Object.values(EMBEDDED_SPEECH_ASSETS)) await assets.ensure(name);
	speech = new EmbeddedSpeech({ config: SPEECH, assets, log: silentLog });
	const target = (model: string) => ({ upstreams: [{ upstream: "audio", model, weight: 1, order: 0 }] });
	gate = await startGateway({
		audio: { speech, encoder },
		config: {
			limits: { failedRequests: 0 },
			upstreams: { audio: upstreamEntry(upstream.url) },
			models: {
				entries: { "tts-orpheus": target("orpheus"), "openai/whisper-large-v3": target("whisper-large-v3") },
			},
		},
	});
	client = new OpenAI({ baseURL: `${gate.url}/api/v1`, apiKey: gate.key, maxRetries: 0 });
});

afterAll(async () => {
	await gate.stop();
	await speech.stop();
	await upstream.stop();
});

const lengthOf = (bytes: Uint8Array) => measureAudio(encoder, bytes, { tenant: "acc_a", signal: new AbortController().signal });

describe("the built-in voices", () => {
	test("speak a file by OpenAI's own names", async () => {
		const response = await client.audio.speech.create({ model: "tts-1", voice: "alloy", input: "Good morning to all of you." });
		expect(response.headers.get("content-type")).toBe("audio/mpeg");
		const measure = await lengthOf(new Uint8Array(await response.arrayBuffer()));
		expect(measure?.silent).toBe(false);
		expect(measure?.ms).toBeGreaterThan(1_000);
		expect(measure?.ms).toBeLessThan(6_000);
		expect((await gate.posts()).at(-1)).toMatchObject({ model: "tts-kokoro", upstream: "embedded", price: 27 * 3_500 });
	});

	test("stream: the first bytes come before the last sentence is spoken", async () => {
		const streaming = { streaming: true };
		const input = "This is the first sentence. And here comes another one. The third one is the last of them, and it is long.";
		const response = await client.audio.speech.create({
			model: "tts-kokoro",
			voice: "af_heart",
			input,
			response_format: "pcm",
			...streaming,
		});
		let postsAtFirst: number | null = null;
		let bytes = 0;
		for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
			postsAtFirst ??= (await gate.posts()).filter(
				({ model, price }) => model === "tts-kokoro" && price === input.length * 3_500,
			).length;
			bytes += piece.length;
		}
		// Nothing was posted yet as the first bytes came: the audio was not whole.
		expect(postsAtFirst).toBe(0);
		expect(bytes / 48_000).toBeGreaterThan(3);
		expect((await gate.posts()).at(-1)).toMatchObject({ status: 200, price: input.length * 3_500 });
	});

	test("refuse with an error that the client reads", async () => {
		const refused = await client.audio.speech
			.create({ model: "tts-1", voice: "nobody", input: "Hi." })
			.catch((error: unknown) => error);
		expect(refused).toBeInstanceOf(APIError);
		expect(refused).toMatchObject({ status: 400, param: "voice", type: "invalid_request_error" });
		expect((refused as APIError).message).toContain("Supported voices: af_alloy");
	});
});

describe("servers", () => {
	test("speech comes byte for byte, whole and streamed", async () => {
		for (const streaming of [false, true]) {
			const more = { streaming };
			const response = await client.audio.speech.create({
				model: "tts-orpheus",
				voice: "tara",
				input: "Hello.",
				response_format: "wav",
				...more,
			});
			expect(Buffer.from(await response.arrayBuffer()).equals(audioOf("Hello.", "wav"))).toBe(true);
		}
	});

	test("a transcription, as text, JSON, subtitles and with segments", async () => {
		upstream.transcribes({ text: "Hello there.", language: "en", segments: [{ start: 0, end: 1, text: "Hello there." }] });
		const file = await toFile(await toneFile(encoder, "mp3", 1), "speech.mp3");
		const ask = { file, model: "whisper-1" } as const;
		expect((await client.audio.transcriptions.create(ask)).text).toBe("Hello there.");
		expect(await client.audio.transcriptions.create({ ...ask, response_format: "text" })).toBe("Hello there." as never);
		expect(String(await client.audio.transcriptions.create({ ...ask, response_format: "srt" }))).toContain(
			"00:00:00,000 --> 00:00:01,000",
		);
		const verbose = await client.audio.transcriptions.create({ ...ask, response_format: "verbose_json" });
		expect(verbose.segments?.[0]).toMatchObject({ id: 0, start: 0, end: 1, text: "Hello there." });
		expect(verbose.language).toBe("en");
	});

	test("a fault of the server is a fault for the client, with its code", async () => {
		upstream.next({ status: 500 });
		const file = await toFile(await toneFile(encoder, "wav", 1), "speech.wav");
		const failed = await client.audio.transcriptions.create({ file, model: "whisper-1" }).catch((error: unknown) => error);
		expect(failed).toMatchObject({ status: 502, code: "ASR_UPSTREAM_FAILED", type: "server_error" });
	});
});

test("the books balance after all of it", async () => {
	expect((await gate.audit()).ok).toBe(true);
	expect(gate.gateway.budgets.holdsOpen).toBe(0);
});
