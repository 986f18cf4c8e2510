import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { readyEncoder, ScriptedSpeechEngine } from "../../../test/support/audio-engines.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../../../test/support/running-gateway.ts";
import { type ScriptedAudioUpstream, startScriptedAudioUpstream } from "../../../test/support/scripted-audio-upstream.ts";

let gate: RunningGateway;
let upstream: ScriptedAudioUpstream;
const engine = new ScriptedSpeechEngine();

beforeAll(async () => {
	upstream = startScriptedAudioUpstream();
	gate = await startGateway({
		audio: { speech: engine, encoder: await readyEncoder() },
		config: {
			limits: { audioRequestsPerMinute: 1_000 },
			upstreams: { voices: upstreamEntry(upstream.url) },
			models: { entries: { "tts-orpheus": { upstreams: [{ upstream: "voices", weight: 1, order: 0 }] } } },
		},
	});
});
afterEach(() => {
	upstream.reset();
	engine.requests.length = 0;
});
afterAll(async () => {
	await gate.stop();
	await upstream.stop();
});

const speak = (body: object) => gate.call("POST", "/audio/speech", body);

test.each([
	["こんにちは世界", undefined, "jf_alpha"],
	["你好世界", undefined, "zf_xiaobei"],
	["मैं दिल्ली में", undefined, "hf_alpha"],
	["Hello", undefined, "af_sky"],
	["The word 日本 means Japan.", undefined, "af_sky"],
	["東京特許許可局", "ja", "jf_alpha"],
	["Bonjour", "fr-CA", "ff_siwis"],
	["Good morning", "en", "af_sky"],
	["Good morning", "en-GB", "bf_alice"],
	["Bom dia", "pt", "pf_dora"],
	["こんにちは", "en", "jf_alpha"],
	["Hello", "Klingon", "af_sky"],
])("%s, language %s, is spoken by %s where no voice is named, and by voice auto", async (input, language, voice) => {
	for (const named of [{}, { voice: "auto" }])
		expect((await speak({ input, ...named, ...(language === undefined ? {} : { language }) })).status).toBe(200);
	expect(engine.requests.map((request) => request.voice)).toEqual([voice, voice]);
});

test("a named voice is kept, whatever the hint, and a few foreign words with it", async () => {
	expect((await speak({ input: "Tokyo (東京) is large.", voice: "bm_george", language: "ja" })).status).toBe(200);
	expect(engine.requests[0]).toMatchObject({ voice: "bm_george" });
});

test("what an upstream's voices can say is theirs to know; auto is the model's usual voice there", async () => {
	for (const voice of [{}, { voice: "auto" }])
		expect((await speak({ model: "tts-orpheus", input: "Привет", ...voice })).status).toBe(200);
	expect(upstream.requests[0]?.body.voice).toBe(upstream.requests[1]?.body.voice);
});
