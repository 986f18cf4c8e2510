import { expect, test } from "bun:test";
import { buildCatalog } from "./build-catalog.ts";
import { inputsOf } from "./testing/config.ts";

const upstreams = { own: { url: "http://127.0.0.1:9/v1" } };
const specOf = (model: { public: Readonly<Record<string, unknown>> } | undefined) =>
	model?.public.model_spec as Record<string, unknown> | undefined;

test("the built-in voices are online where their engine runs, and offline with the line that helps where not", () => {
	const speechAvailable = true;
	expect(buildCatalog(inputsOf({}, {}, { speechAvailable })).get("tts-kokoro")).toMatchObject({
		offline: false,
		targets: [{ upstream: "embedded", model: "tts-kokoro" }],
	});
	const off = buildCatalog(inputsOf({ speech: { embedded: { enabled: false } } }, {}, { speechAvailable })).get("tts-kokoro");
	expect(off).toMatchObject({ offline: true });
	expect(off?.offlineReason).toContain("speech.embedded.enabled");
	expect(buildCatalog(inputsOf()).get("tts-kokoro")?.offlineReason).toContain("turnpike doctor");
});

test("an upstream goes in the place of the built-in voices, or beside them where both are named", () => {
	const of = (targets: object[]) => ({ upstreams, models: { entries: { "tts-kokoro": { upstreams: targets } } } });
	const alone = buildCatalog(inputsOf(of([{ upstream: "own", model: "kokoro" }]), {}, { speechAvailable: true }));
	expect(alone.get("tts-kokoro")?.targets).toEqual([{ upstream: "own", model: "kokoro", weight: 1, order: 0 }]);
	const both = buildCatalog(
		inputsOf(of([{ upstream: "own" }, { upstream: "embedded", order: 1 }]), {}, { speechAvailable: true }),
	);
	expect(both.get("tts-kokoro")?.targets.map(({ upstream, model }) => [upstream, model])).toEqual([
		["own", "tts-kokoro"],
		["embedded", "tts-kokoro"],
	]);
});

test("speech and transcription models know what the routes ask of them", () => {
	const catalog = buildCatalog(inputsOf());
	expect(catalog.get("tts-chatterbox-hd")).toMatchObject({
		speech: {
			defaultVoice: "Aurora",
			accepts: { prompt: false, temperature: true, topP: false, language: false },
			cloning: { mode: "zero_shot", days: 7, formats: ["mp3", "wav", "flac", "mp4"] },
			characterPrice: 50_000_000,
		},
	});
	expect(catalog.get("tts-kokoro")).toMatchObject({
		speech: { characterPrice: 3_500_000, cloning: null, defaultVoice: "af_sky" },
	});
	expect(catalog.get("tts-xai-v1")).toMatchObject({ speech: { sampleRate: 24_000 } });
	expect(catalog.get("stt-xai-v1")).toMatchObject({ transcription: { timestamps: "word", millisecondPrice: 31_480 } });
	expect(catalog.get("fal-ai/wizper")).toMatchObject({ transcription: { timestamps: "segment", millisecondPrice: 100_000 } });
});

test("an operator sells speech of their own under their price, with their voices", () => {
	const entries = {
		mine: {
			type: "tts",
			upstreams: [{ upstream: "own" }],
			speech: { voices: ["ann", "bob"], perMillionCharacters: 8, topP: true },
		},
		mute: { type: "tts", upstreams: [{ upstream: "own" }] },
		"tts-orpheus": { upstreams: [{ upstream: "own" }], speech: { perMillionCharacters: 1 } },
		heard: { type: "asr", upstreams: [{ upstream: "own" }], transcription: { perAudioSecond: 0.002, timestamps: "word" } },
	};
	const catalog = buildCatalog(inputsOf({ upstreams, models: { entries } }));
	expect(catalog.get("mine")).toMatchObject({ offline: false, speech: { defaultVoice: "ann", characterPrice: 8_000_000 } });
	expect(specOf(catalog.get("mine"))).toMatchObject({
		voices: ["ann", "bob"],
		default_format: "mp3",
		capabilities: { voice_cloning: false, supportsTopPParam: true },
		pricing: { input: { usd: 8, diem: 8 } },
	});
	expect(catalog.get("mute")).toMatchObject({ offline: true, speech: null });
	expect(catalog.get("mute")?.offlineReason).toContain('models.entries["mute"].speech.voices');
	expect(specOf(catalog.get("tts-orpheus"))).toMatchObject({ pricing: { input: { usd: 1, diem: 1 } }, default_voice: "dan" });
	expect(catalog.get("heard")).toMatchObject({ transcription: { millisecondPrice: 2_000_000, timestamps: "word" } });
	expect(specOf(catalog.get("heard"))).toMatchObject({ pricing: { per_audio_second: { usd: 0.002, diem: 0.002 } } });
});
