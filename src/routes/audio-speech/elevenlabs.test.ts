import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { ENCODER_LIMIT_MS, readyEncoder } from "../../../test/support/audio-engines.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../../../test/support/running-gateway.ts";
import {
	audioOf,
	type ScriptedAudioUpstream,
	startScriptedAudioUpstream,
} from "../../../test/support/scripted-audio-upstream.ts";

let gate: RunningGateway;
let upstream: ScriptedAudioUpstream;

beforeAll(async () => {
	upstream = startScriptedAudioUpstream();
	gate = await startGateway({
		audio: { encoder: await readyEncoder() },
		config: {
			limits: { failedRequests: 0 },
			upstreams: { eleven: upstreamEntry(upstream.url, { discover: false, headers: { "xi-api-key": "eleven-secret" } }) },
			models: {
				entries: {
					"tts-elevenlabs-turbo-v2-5": {
						upstreams: [
							{
								upstream: "eleven",
								model: "eleven_turbo_v2_5",
								protocol: "elevenlabs",
								voices: { Rachel: "21m00Tcm/4" },
								weight: 1,
								order: 0,
							},
						],
					},
				},
			},
		},
	});
}, ENCODER_LIMIT_MS);
afterEach(() => upstream.reset());
afterAll(async () => {
	await gate.stop();
	await upstream.stop();
});

const speak = (body: object) =>
	gate.call("POST", "/audio/speech", { model: "tts-elevenlabs-turbo-v2-5", input: "Hello.", voice: "Rachel", ...body });

test("its names for voice, model, language and speed; its key as its own header; its bytes as they come", async () => {
	const response = await speak({ language: "en", speed: 1.1, prompt: "ignored", temperature: 1 });
	expect(await response.bytes()).toEqual(audioOf("Hello."));
	const [sent] = upstream.requests;
	expect(sent?.path).toBe("/v1/text-to-speech/21m00Tcm%2F4");
	expect(sent?.headers.get("xi-api-key")).toBe("eleven-secret");
	expect(sent?.headers.get("authorization")).toBeNull();
	expect(sent?.body).toEqual({
		text: "Hello.",
		model_id: "eleven_turbo_v2_5",
		language_code: "en",
		voice_settings: { speed: 1.1 },
	});
	expect((await gate.posts()).at(-1)).toMatchObject({ upstream: "eleven", price: 6 * 62_500 });
});

test("formats that it lacks are made from its pcm, and a speed that it lacks is made here", async () => {
	const pcm = new Uint8Array(Int16Array.from({ length: 24_000 }, (_, at) => Math.round(8_000 * Math.sin(at / 10))).buffer);
	upstream.always({ raw: pcm, type: "application/octet-stream" });
	const wav = await (await speak({ response_format: "wav" })).bytes();
	expect(Math.abs(wav.length - pcm.length)).toBeLessThan(200);
	const half = await (await speak({ response_format: "pcm", speed: 2 })).bytes();
	expect(half.length / pcm.length).toBeCloseTo(0.5, 1);
	expect(upstream.requests[1]?.body.voice_settings).toBeUndefined();
});

test("its refusal of our key is no matter of the caller", async () => {
	upstream.next({ status: 401, raw: '{"detail":{"status":"invalid_api_key","message":"Invalid API key eleven-secret"}}' });
	const response = await speak({});
	expect(response.status).toBe(503);
	expect(await response.text()).not.toContain("eleven-secret");
});
