import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { readyEncoder } from "../../../test/support/audio-engines.ts";
import { PROVIDER_KEY, SPEECH_SCRIPTS } from "../../../test/support/providers/speech-scripts.ts";
import { type SpeechServer, startSpeechServer } from "../../../test/support/providers/speech-server.ts";
import { type RunningGateway, startGateway } from "../../../test/support/running-gateway.ts";
import { toneFile } from "../../../test/support/tone-file.ts";
import { until } from "../../../test/support/until.ts";
import type { AudioFormatName } from "../../catalog/types.ts";

let gate: RunningGateway;
let server: SpeechServer;
let sounds: Record<AudioFormatName, Uint8Array>;

/** The catalog's model, or one of our own, that a provider speaks here. */
const MODELS: Readonly<Record<string, { readonly model: string; readonly voice: string; readonly upstreamModel: string }>> = {
	openai: { model: "own-openai", voice: "ann", upstreamModel: "gpt-4o-mini-tts" },
	google: { model: "tts-gemini-3-1-flash", voice: "Kore", upstreamModel: "gemini-2.5-flash-preview-tts" },
	xai: { model: "tts-xai-v1", voice: "eve", upstreamModel: "grok-tts" },
	elevenlabs: { model: "tts-elevenlabs-turbo-v2-5", voice: "Rachel", upstreamModel: "eleven_turbo_v2_5" },
	lmnt: { model: "own-lmnt", voice: "ann", upstreamModel: "blizzard" },
	hume: { model: "own-hume", voice: "ann", upstreamModel: "octave" },
	deepgram: { model: "own-deepgram", voice: "ann", upstreamModel: "aura-2" },
	mistral: { model: "own-mistral", voice: "ann", upstreamModel: "voxtral-mini-tts-2603" },
	fal: { model: "tts-minimax-speech-02-hd", voice: "CalmWoman", upstreamModel: "fal-ai/minimax/speech-02-hd" },
};

beforeAll(async () => {
	const encoder = await readyEncoder();
	const formats = ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const;
	const made = await Promise.all(formats.map(async (format) => [format, await toneFile(encoder, format, 0.6)] as const));
	sounds = Object.fromEntries(made) as typeof sounds;
	server = startSpeechServer(sounds);
	const entries = Object.entries(MODELS).map(([provider, { model, upstreamModel, voice }]) => [
		model,
		{
			...(model.startsWith("own-")
				? {
						type: "tts",
						speech: { voices: ["ann", "bob"], perMillionCharacters: 10, prompt: true, temperature: true, topP: true },
					}
				: {}),
			upstreams: [{ upstream: provider, model: upstreamModel, voices: { [voice]: `${provider}voice` }, weight: 1, order: 0 }],
		},
	]);
	gate = await startGateway({
		audio: { encoder },
		config: {
			limits: { failedRequests: 0, audioRequestsPerMinute: 1_000 },
			timeouts: { speechMs: 20_000 },
			upstreams: server.upstreams,
			models: {
				entries: {
					...Object.fromEntries(entries),
					"tts-qwen3-0-6b": {
						upstreams: [{ upstream: "fal", model: "fal-ai/qwen-3-tts/text-to-speech/0.6b", weight: 1, order: 0 }],
					},
					slashed: {
						type: "tts",
						speech: { voices: ["ann"], perMillionCharacters: 10 },
						upstreams: [{ upstream: "elevenlabs", model: "eleven_v3", voices: { ann: "21m00Tcm/../4" }, weight: 1, order: 0 }],
					},
					twice: {
						type: "tts",
						speech: { voices: ["ann"], perMillionCharacters: 10 },
						upstreams: [
							{ upstream: "xai", model: "a", weight: 1, order: 0 },
							{ upstream: "openai", model: "b", weight: 1, order: 1 },
						],
					},
				},
			},
		},
	});
});
afterEach(() => server.reset());
afterAll(async () => {
	await gate.stop();
	await server.stop();
});

const speak = (body: object, signal?: AbortSignal) =>
	fetch(`${gate.url}/api/v1/audio/speech`, {
		method: "POST",
		headers: { authorization: `Bearer ${gate.key}`, "content-type": "application/json" },
		body: JSON.stringify({ input: "Hello.", ...body }),
		...(signal ? { signal } : {}),
	});
const lastPost = async () => (await gate.posts()).at(-1);
const starts: Readonly<Record<AudioFormatName, RegExp>> = {
	mp3: /^(ID3|\xff[\xe0-\xff])/,
	opus: /^OggS/,
	aac: /^\xff[\xf0\xf1\xf9]/,
	flac: /^fLaC/,
	wav: /^RIFF/,
	pcm: /^/,
};

describe.each(SPEECH_SCRIPTS.map((script) => [script.provider, script] as const))("%s", (provider, script) => {
	const { model = "", voice = "", upstreamModel = "" } = MODELS[provider] ?? {};

	test("is asked in its own words, and every format comes of what it makes", async () => {
		for (const format of ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const) {
			const response = await speak({ model, voice, response_format: format });
			expect([format, response.status, response.headers.get("x-service-model-router")]).toEqual([format, 200, provider]);
			const bytes = await response.bytes();
			expect(Buffer.from(bytes).toString("latin1")).toMatch(starts[format]);
			if (format === "pcm") expect(Math.abs(bytes.length - sounds.pcm.length)).toBeLessThan(6_000);
			else expect(bytes.length).toBeGreaterThan(500);
			const sent = server.requests.find(({ method }) => method === "POST");
			if (script.format(sent ?? never()) === format && provider !== "google") expect(bytes).toEqual(sounds[format]);
			const shown = JSON.stringify([sent?.path, [...(sent?.query ?? [])], sent?.body]);
			expect(shown).toContain(`${provider}voice`);
			if (!["xai", "hume"].includes(provider)) expect(shown).toContain(upstreamModel);
			expect(sent?.headers.get("x-request-id")).toBe(response.headers.get("x-request-id"));
			expect(server.complaints).toEqual([]);
			server.reset();
		}
		expect(await lastPost()).toMatchObject({ status: 200, model, upstream: provider });
	});

	test("its refusal of our key is no matter of the caller, and tells no key", async () => {
		server.next({ status: 401, body: script.refusal });
		const response = await speak({ model, voice });
		expect(response.status).toBe(503);
		expect(await response.text()).not.toContain(PROVIDER_KEY);
	});

	test("what it cannot take now is 429, and what breaks 500; neither costs anything", async () => {
		const before = await gate.balance();
		server.next({ status: 429, body: {}, headers: { "retry-after": "7" } }, { status: 500, body: "oops" });
		const busy = await speak({ model, voice });
		expect([busy.status, busy.headers.get("retry-after")]).toEqual([429, "7"]);
		// It has asked for a pause, which ends with its next success.
		expect((await speak({ model, voice })).status).toBe(500);
		expect(await gate.balance()).toBe(before);
		expect((await speak({ model, voice })).status).toBe(200);
	});

	test("a caller that leaves stops it", async () => {
		const stop = new AbortController();
		server.next({ hang: true });
		const asked = speak({ model, voice }, stop.signal).catch(() => null);
		await until(() => server.requests.length > 0);
		stop.abort();
		await server.requests[0]?.aborted;
		await asked;
		await until(() => gate.gateway.budgets.holdsOpen === 0);
	});
});

function never(): never {
	throw new Error("nothing was sent");
}

test("each takes of the fields what it knows, under its own names", async () => {
	const wishes = { prompt: "softly", temperature: 0.7, top_p: 0.9, speed: 1.1 };
	const sentTo = async (provider: string, more: object = {}) => {
		const { model, voice } = MODELS[provider] ?? never();
		expect((await speak({ model, voice, ...wishes, ...more })).status).toBe(200);
		const { body, query } = server.requests.find(({ provider: to, method }) => to === provider && method === "POST") ?? never();
		server.reset();
		return { body, query };
	};
	expect((await sentTo("openai")).body).toMatchObject({ instructions: "softly", speed: 1.1 });
	expect((await sentTo("lmnt")).body).toMatchObject({ temperature: 0.7, top_p: 0.9, speed: 1.1 });
	expect((await sentTo("hume")).body.utterances).toEqual([
		{ text: "Hello.", description: "softly", speed: 1.1, voice: { id: "humevoice", provider: "HUME_AI" } },
	]);
	expect((await sentTo("deepgram")).query.get("speed")).toBe("1.1");
	expect((await sentTo("deepgram", { speed: 1 })).query.get("model")).toBe("aura-2-deepgramvoice-en");
	expect((await sentTo("xai", { language: "de" })).body).toMatchObject({ language: "de", speed: 1.1 });
	expect((await sentTo("elevenlabs", { language: "de" })).body).toEqual({
		text: "Hello.",
		model_id: "eleven_turbo_v2_5",
		language_code: "de",
		voice_settings: { speed: 1.1 },
	});
	expect((await sentTo("fal", { language: "German" })).body).toMatchObject({
		voice_setting: { voice_id: "falvoice", speed: 1.1 },
		language_boost: "German",
	});
	await speak({ model: "tts-qwen3-0-6b", voice: "Ryan", language: "English", ...wishes, speed: 1 });
	expect(server.requests[0]?.body).toMatchObject({
		text: "Hello.",
		voice: "Ryan",
		prompt: "softly",
		temperature: 0.7,
		top_p: 0.9,
		language: "English",
	});
	expect(server.complaints).toEqual([]);
});

test("a voice's name stays one part of an address", async () => {
	const response = await speak({ model: "slashed", voice: "ann" });
	expect(response.status).toBe(200);
	expect(server.requests[0]?.path).toBe("/v1/text-to-speech/21m00Tcm%2F..%2F4");
	expect(server.complaints).toEqual([]);
});

test("a speed that a provider lacks is made here", async () => {
	for (const [provider, speed] of [
		["google", 2],
		["elevenlabs", 2],
		["mistral", 0.5],
	] as const) {
		const { model, voice } = MODELS[provider] ?? never();
		const bytes = await (await speak({ model, voice, speed, response_format: "pcm" })).bytes();
		expect(bytes.length / sounds.pcm.length).toBeCloseTo(1 / speed, 0);
		expect(JSON.stringify(server.requests[0]?.body)).not.toContain("speed");
		server.reset();
	}
});

test("audio is passed on as the provider sends it, before it is whole", async () => {
	for (const provider of ["openai", "xai", "elevenlabs", "lmnt", "hume", "deepgram", "fal"]) {
		const { model, voice } = MODELS[provider] ?? never();
		const rest = Promise.withResolvers<void>();
		server.next({ audio: sounds.mp3, beforeSecondHalf: rest.promise });
		const response = await speak({ model, voice, streaming: true });
		const reader = response.body?.getReader();
		expect((await reader?.read())?.value?.length).toBeGreaterThan(0);
		rest.resolve();
		let length = 0;
		for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) length += read.value.length;
		expect(length).toBeGreaterThan(0);
	}
});

test("what breaks in the middle costs nothing and is reset; what is no audio is an error", async () => {
	const { model, voice } = MODELS.elevenlabs ?? never();
	const before = await gate.balance();
	const cut = Promise.withResolvers<void>();
	server.next({ audio: sounds.mp3, beforeSecondHalf: cut.promise, cut: true });
	const broken = await speak({ model, voice, streaming: true });
	expect(broken.status).toBe(200);
	cut.resolve();
	expect(await broken.bytes().catch(() => "reset")).toBe("reset");
	server.next({ body: { detail: "no audio" } });
	expect((await speak({ model, voice })).status).toBe(500);
	server.next({ audio: new Uint8Array(0) });
	expect((await speak({ model, voice })).status).toBe(500);
	server.next({ body: { candidates: [] } });
	expect((await speak({ model: MODELS.google?.model })).status).toBe(500);
	await until(() => gate.gateway.budgets.holdsOpen === 0);
	expect(await gate.balance()).toBe(before);
	expect((await gate.audit()).ok).toBe(true);
});

test("the next upstream takes over where a provider fails", async () => {
	server.next({ status: 503, body: {} });
	const response = await speak({ model: "twice", voice: "ann" });
	expect([response.status, response.headers.get("x-service-model-router"), response.headers.get("x-retry-count")]).toEqual([
		200,
		"openai",
		"1",
	]);
});
