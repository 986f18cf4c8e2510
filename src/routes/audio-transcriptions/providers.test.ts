import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { readyEncoder } from "../../../test/support/audio-engines.ts";
import { PROVIDER_KEY } from "../../../test/support/providers/speech-scripts.ts";
import {
	SAID,
	startTranscriptionServer,
	TRANSCRIPTION_PROVIDERS,
	type TranscriptionServer,
} from "../../../test/support/providers/transcription-server.ts";
import { type RunningGateway, startGateway } from "../../../test/support/running-gateway.ts";
import { toneFile } from "../../../test/support/tone-file.ts";
import { until } from "../../../test/support/until.ts";

let gate: RunningGateway;
let server: TranscriptionServer;
/** 2.4 s of a tone. */
let wav: Uint8Array;

beforeAll(async () => {
	server = startTranscriptionServer();
	const encoder = await readyEncoder();
	wav = await toneFile(encoder, "wav", 2.4);
	const entries = TRANSCRIPTION_PROVIDERS.flatMap(({ provider, model }) =>
		(["segment", "word"] as const).map((timestamps) => [
			`${provider}-${timestamps}`,
			{
				type: "asr",
				transcription: { perAudioSecond: 0.001, timestamps },
				upstreams: [{ upstream: provider, model, weight: 1, order: 0 }],
			},
		]),
	);
	gate = await startGateway({
		audio: { encoder },
		config: {
			limits: { failedRequests: 0, audioRequestsPerMinute: 1_000 },
			timeouts: { transcriptionMs: 20_000 },
			upstreams: server.upstreams,
			models: { entries: Object.fromEntries(entries) },
		},
	});
});
afterEach(() => server.reset());
afterAll(async () => {
	await gate.stop();
	await server.stop();
});

function transcribe(fields: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<Response> {
	const form = new FormData();
	for (const [name, value] of Object.entries(fields)) form.set(name, value);
	form.set("file", new Blob([wav as Uint8Array<ArrayBuffer>]), "speech.wav");
	return fetch(`${gate.url}/api/v1/audio/transcriptions`, {
		method: "POST",
		headers: { authorization: `Bearer ${gate.key}` },
		body: form,
		...(signal ? { signal } : {}),
	});
}

/** Where a package gives no words of its own. */
const WITHOUT_WORDS = ["fal", "mistral"];

describe.each(TRANSCRIPTION_PROVIDERS.map(({ provider }) => provider))("%s", (provider) => {
	test("hears the file, and says it as text, with segments and with words", async () => {
		const plain = await transcribe({ model: `${provider}-segment` });
		expect(await plain.json()).toEqual({ text: SAID.text });
		expect(plain.headers.get("x-service-model-router")).toBe(provider);
		const heard = server.requests.find(({ audio }) => audio !== null);
		expect(heard?.audio).toEqual(wav);
		expect(heard?.headers.get("x-request-id")).toBe(plain.headers.get("x-request-id"));
		const timed = await transcribe({ model: `${provider}-segment`, timestamps: "true", language: "en" });
		expect(await timed.json()).toMatchObject({ text: SAID.text, duration: 2.4, timestamps: { segment: SAID.segments } });
		const worded = (await (await transcribe({ model: `${provider}-word`, timestamps: "true" })).json()) as {
			timestamps: { word: unknown[] };
		};
		if (WITHOUT_WORDS.includes(provider)) expect(worded.timestamps.word.length).toBeGreaterThan(0);
		else expect(worded.timestamps.word).toEqual([...SAID.words]);
		expect(server.complaints).toEqual([]);
		// 2.4 s at 0.001 USD.
		expect((await gate.posts()).at(-1)).toMatchObject({ status: 200, upstream: provider, price: 2_400_000 });
	});

	test("what it refuses, cannot take or breaks is told as of any upstream, and costs nothing", async () => {
		const before = await gate.balance();
		const model = `${provider}-segment`;
		server.next(Response.json({ error: { message: `bad key ${PROVIDER_KEY}` } }, { status: 401 }));
		const account = await transcribe({ model });
		expect([account.status, await account.text()]).toEqual([503, expect.not.stringContaining(PROVIDER_KEY)]);
		server.next(new Response("{}", { status: 429 }));
		expect((await transcribe({ model })).status).toBe(429);
		server.next(new Response("<html>", { status: 502 }));
		expect((await transcribe({ model })).status).toBe(502);
		server.next(new Response("no json"));
		expect((await transcribe({ model })).status).toBe(502);
		expect(await gate.balance()).toBe(before);
	});
});

test("a language goes as each wants it, and is found out where none is told", async () => {
	const sent = async (provider: string, language?: string) => {
		server.reset();
		const asked = { model: `${provider}-segment`, ...(language === undefined ? {} : { language }) };
		expect((await transcribe(asked)).status).toBe(200);
		return server.requests.map(({ body, query }) => ({ ...body, ...query }));
	};
	expect((await sent("deepgram", "fr"))[0]).toMatchObject({ language: "fr" });
	expect((await sent("deepgram"))[0]).toMatchObject({ detect_language: "true" });
	expect((await sent("assemblyai", "fr"))[1]).toMatchObject({ language_code: "fr" });
	expect((await sent("assemblyai"))[1]).toMatchObject({ language_detection: true });
	expect((await sent("gladia", "fr"))[1]).toMatchObject({ language: "fr" });
	expect(JSON.parse(String((await sent("revai", "fr"))[0]?.config))).toMatchObject({ language: "fr" });
	expect((await sent("elevenlabs", "fr"))[0]).toMatchObject({ language_code: "fr" });
	expect((await sent("groq", "fr"))[0]).toMatchObject({ language: "fr", response_format: "json" });
	expect((await sent("openai", "fr"))[0]).toMatchObject({ language: "fr" });
	expect((await sent("fal", "fr"))[0]).toMatchObject({ language: "fr", diarize: false });
	expect((await sent("fal"))[0]).toMatchObject({ language: null });
	expect((await sent("mistral", "fr"))[0]).toMatchObject({ language: "fr" });
	expect((await sent("xai", "fr"))[0]).toMatchObject({ language: "fr" });
});

test("a caller that leaves a job that is waited for is let go at once, and pays for the audio", async () => {
	const stop = new AbortController();
	const before = await gate.balance();
	server.next(
		Response.json({ upload_url: "https://cdn.test/u/1" }),
		Response.json({ id: "t1", status: "queued" }),
		Response.json({ id: "t1", status: "processing" }),
	);
	const asked = transcribe({ model: "assemblyai-segment" }, stop.signal).catch(() => null);
	await until(() => server.requests.length === 3);
	stop.abort();
	await asked;
	await until(() => gate.gateway.budgets.holdsOpen === 0);
	expect(before - (await gate.balance())).toBe(2_400_000);
	expect((await gate.posts()).at(-1)?.status).toBe(499);
});

test("a job that fails is a failure of the upstream", async () => {
	server.next(
		Response.json({ upload_url: "https://cdn.test/u/1" }),
		Response.json({ id: "t1", status: "queued" }),
		Response.json({ id: "t1", status: "error", error: "cannot decode" }),
	);
	const response = await transcribe({ model: "assemblyai-segment" });
	expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([502, "ASR_UPSTREAM_FAILED"]);
});
