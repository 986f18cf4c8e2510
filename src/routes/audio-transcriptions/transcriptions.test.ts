import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { readyEncoder } from "../../../test/support/audio-engines.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../../../test/support/running-gateway.ts";
import { type ScriptedAudioUpstream, startScriptedAudioUpstream } from "../../../test/support/scripted-audio-upstream.ts";
import { toneFile } from "../../../test/support/tone-file.ts";
import { until } from "../../../test/support/until.ts";
import type { FfmpegEncoder } from "../../engines/audio/index.ts";
import type { AudioFormat } from "../../engines/audio/port.ts";

let gate: RunningGateway;
let upstream: ScriptedAudioUpstream;
let encoder: FfmpegEncoder;
/** 2.4 s of a tone. */
let wav: Uint8Array;

beforeAll(async () => {
	upstream = startScriptedAudioUpstream();
	encoder = await readyEncoder();
	wav = await toneFile(encoder, "wav", 2.4);
	const target = (more: object = {}) => ({ upstreams: [{ upstream: "ears", weight: 1, order: 0, ...more }] });
	gate = await startGateway({
		audio: { encoder },
		config: {
			limits: { failedRequests: 0, audioRequestsPerMinute: 1_000 },
			timeouts: { transcriptionMs: 2_000 },
			upstreams: { ears: upstreamEntry(upstream.url, { key: "up-key", health: { failures: 1_000, probeEveryMs: 60_000 } }) },
			models: {
				entries: {
					"nvidia/parakeet-tdt-0.6b-v3": target(),
					"openai/whisper-large-v3": target({ model: "whisper-large" }),
					"elevenlabs/scribe-v2": target(),
				},
			},
		},
	});
});

afterEach(() => upstream.reset());

afterAll(async () => {
	await gate.stop();
	await upstream.stop();
});

interface RequestParts {
	readonly file?: Uint8Array | string | null;
	readonly fields?: Readonly<Record<string, string>>;
	readonly signal?: AbortSignal;
	readonly key?: string;
}

function transcribe({ file = wav, fields = {}, signal, key = gate.key }: RequestParts = {}): Promise<Response> {
	const form = new FormData();
	for (const [name, value] of Object.entries(fields)) form.set(name, value);
	if (typeof file === "string") form.set("file", file);
	else if (file !== null) form.set("file", new Blob([file as Uint8Array<ArrayBuffer>]), "speech.wav");
	return fetch(`${gate.url}/api/v1/audio/transcriptions`, {
		method: "POST",
		headers: { authorization: `Bearer ${key}` },
		body: form,
		...(signal ? { signal } : {}),
	});
}

const SEGMENTS = [
	{ id: 0, start: 0.1, end: 1.25, text: " Ship it --> now,", tokens: [1] },
	{ id: 1, start: 1.25, end: 2.2, text: " on Friday." },
	{ id: 2, start: "no time", text: "left out" },
];
const WORDS = [{ word: "Ship", start: 0.1, end: 0.3 }];
const SAID = { text: "Ship it now, on Friday.", language: "english", duration: 2.4, segments: SEGMENTS, words: WORDS };

describe("200", () => {
	test("the text alone, by the default model, at the price of the measured length", async () => {
		upstream.transcribes({ text: "Ship it on Friday." });
		const response = await transcribe();
		expect(response.status).toBe(200);
		expect(response.headers.get("x-service-model-id")).toBe("nvidia/parakeet-tdt-0.6b-v3");
		expect(await response.json()).toEqual({ text: "Ship it on Friday." });
		const [sent] = upstream.requests;
		expect(sent?.body).toEqual({ model: "nvidia/parakeet-tdt-0.6b-v3", response_format: "json" });
		expect(sent?.files.file).toEqual(wav);
		expect(sent?.headers.get("authorization")).toBe("Bearer up-key");
		// 2.4 s at 0.0001 USD.
		expect((await gate.posts()).at(-1)).toMatchObject({ status: 200, price: 240_000, upstream: "ears" });
	});

	test("timestamps: what the model has of them, and nothing where it has none", async () => {
		upstream.transcribes(SAID);
		const of = async (model: string) => (await transcribe({ fields: { model, timestamps: "true" } })).json();
		expect(await of("nvidia/parakeet-tdt-0.6b-v3")).toEqual({ text: SAID.text });
		expect(await of("whisper-1")).toEqual({
			text: SAID.text,
			duration: 2.4,
			timestamps: {
				segment: [
					{ text: " Ship it --> now,", start: 0.1, end: 1.25 },
					{ text: " on Friday.", start: 1.25, end: 2.2 },
				],
			},
		});
		expect(await of("elevenlabs/scribe-v2")).toEqual({ text: SAID.text, duration: 2.4, timestamps: { word: WORDS } });
		expect(upstream.requests.map(({ body }) => [body.model, body.response_format, body["timestamp_granularities[]"]])).toEqual([
			["nvidia/parakeet-tdt-0.6b-v3", "json", undefined],
			["whisper-large", "verbose_json", "segment"],
			["elevenlabs/scribe-v2", "verbose_json", "word"],
		]);
	});

	test("OpenAI's own fields are taken: a hint and a temperature go on, words come, what is ignored is ignored", async () => {
		upstream.transcribes(SAID);
		const fields = {
			model: "whisper-1",
			response_format: "verbose_json",
			prompt: "Ship, Friday",
			temperature: "0.2",
			"timestamp_granularities[]": "word",
			"include[]": "logprobs",
			chunking_strategy: "auto",
		};
		const response = await transcribe({ fields });
		expect(response.status).toBe(200);
		expect(await response.json()).toMatchObject({ text: SAID.text, words: WORDS });
		expect(upstream.requests[0]?.body).toEqual({
			model: "whisper-large",
			response_format: "verbose_json",
			prompt: "Ship, Friday",
			temperature: "0.2",
			"timestamp_granularities[]": "word",
		});
	});

	test("stream: the text in events, once it is there; other formats come as they are", async () => {
		upstream.transcribes(SAID);
		const response = await transcribe({ fields: { stream: "true" } });
		expect(response.headers.get("content-type")).toBe("text/event-stream");
		const events = (await response.text()).split("\n\n").filter((event) => event !== "");
		expect(events.map((event) => JSON.parse(event.slice(6)) as unknown)).toEqual([
			{ type: "transcript.text.delta", delta: SAID.text },
			{ type: "transcript.text.done", text: SAID.text },
		]);
		const text = await transcribe({ fields: { stream: "true", response_format: "text" } });
		expect([text.headers.get("content-type"), await text.text()]).toEqual(["text/plain; charset=utf-8", SAID.text]);
	});

	test("text, srt, vtt and verbose_json", async () => {
		upstream.transcribes(SAID);
		const of = async (format: string) => {
			const response = await transcribe({ fields: { model: "whisper-1", response_format: format } });
			return [response.headers.get("content-type"), await response.text()];
		};
		expect(await of("text")).toEqual(["text/plain; charset=utf-8", SAID.text]);
		expect((await of("srt"))[1]).toBe(
			"1\n00:00:00,100 --> 00:00:01,250\nShip it -> now,\n\n2\n00:00:01,250 --> 00:00:02,200\non Friday.\n",
		);
		expect((await of("vtt"))[1]).toBe(
			"WEBVTT\n\n00:00:00.100 --> 00:00:01.250\nShip it -> now,\n\n00:00:01.250 --> 00:00:02.200\non Friday.\n",
		);
		const [type, body] = await of("verbose_json");
		expect(type).toBe("application/json");
		expect(JSON.parse(body ?? "")).toEqual({
			task: "transcribe",
			language: "english",
			duration: 2.4,
			text: SAID.text,
			segments: [
				{ id: 0, start: 0.1, end: 1.25, text: " Ship it --> now," },
				{ id: 1, start: 1.25, end: 2.2, text: " on Friday." },
			],
		});
	});

	test("times and texts that would break a subtitle", async () => {
		const cues = async (format: string, segments: readonly object[]) => {
			upstream.transcribes({ text: "All of it.", segments });
			return (await transcribe({ fields: { model: "whisper-1", response_format: format } })).text();
		};
		const odd = [
			{ text: "R&D <b>\r\rnow", start: -3, end: 1 },
			{ text: "late", start: 1e300, end: 2 },
			{ text: "back", start: 2, end: 1 },
		];
		expect(await cues("vtt", odd)).toBe(
			"WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nR&amp;D &lt;b> now\n\n00:00:02.000 --> 00:00:02.000\nback\n",
		);
		expect(await cues("srt", odd)).toStartWith("1\n00:00:00,000 --> 00:00:01,000\nR&D <b> now\n");
		expect(await cues("srt", odd.slice(1, 2))).toBe("1\n00:00:00,000 --> 00:00:02,400\nAll of it.\n");
	});

	test("as many words as six hours have; more than that is no answer", async () => {
		const words = (count: number) => Array.from({ length: count }, () => ({ word: "so", start: 0.5, end: 1 }));
		const ask = () => transcribe({ fields: { model: "elevenlabs/scribe-v2", timestamps: "true" } });
		upstream.transcribes({ text: "So.", words: words(50_000) });
		const answer = await ask();
		expect(answer.status).toBe(200);
		const { timestamps } = (await answer.json()) as { timestamps: { word: object[] } };
		expect(timestamps.word).toHaveLength(50_000);
		expect(timestamps.word.at(-1)).toEqual({ word: "so", start: 0.5, end: 1 });
		upstream.transcribes({ text: "So.", words: words(120_000) });
		expect((await ask()).status).toBe(502);
	});

	test("a server without times: one cue over the whole", async () => {
		upstream.transcribes({ text: "All of it." });
		const response = await transcribe({ fields: { response_format: "srt", language: "EN" } });
		expect(await response.text()).toBe("1\n00:00:00,000 --> 00:00:02,400\nAll of it.\n");
		expect(upstream.requests[0]?.body.language).toBe("en");
	});

	test("every container is known by its bytes and goes on under its own ending", async () => {
		for (const format of ["mp3", "opus", "aac", "flac"] satisfies AudioFormat[]) {
			const file = await toneFile(encoder, format, 1);
			const response = await transcribe({ file });
			expect([format, response.status]).toEqual([format, 200]);
			const price = (await gate.posts()).at(-1)?.price ?? 0;
			expect(Math.abs(price - 100_000)).toBeLessThan(10_000);
		}
	});

	test("a failed server is followed by the next try of the caller at no cost", async () => {
		const before = (await gate.posts()).length;
		upstream.next({ status: 500 });
		expect((await transcribe()).status).toBe(502);
		expect((await transcribe()).status).toBe(200);
		expect((await gate.posts()).length).toBe(before + 1);
	});
});

interface ErrorAnswer {
	readonly error: { readonly message: string; readonly param: string | null };
	readonly code: string;
}

describe("what is refused", () => {
	test.each([
		["no file", { file: null }, 400, "INVALID_REQUEST", "file"],
		["a file as text", { file: "UklGRg==" }, 400, "INVALID_REQUEST", "file"],
		["no audio at all", { file: new TextEncoder().encode("hello there, this is a text") }, 400, "INVALID_AUDIO_FORMAT", "file"],
		["an empty file", { file: new Uint8Array(0) }, 422, "ASR_UPSTREAM_VALIDATION_FAILED", "file"],
		[
			"a damaged file",
			{ file: new TextEncoder().encode(`RIFF....WAVE${"x".repeat(500)}`) },
			422,
			"ASR_UPSTREAM_VALIDATION_FAILED",
			"file",
		],
		["an unknown format", { fields: { response_format: "xml" } }, 400, "INVALID_REQUEST", "response_format"],
		["an unknown model", { fields: { model: "whisper-9" } }, 400, "INVALID_MODEL", "model"],
		["a speech model", { fields: { model: "tts-kokoro" } }, 400, "INVALID_MODEL", "model"],
		["timestamps in other words", { fields: { timestamps: "yes" } }, 400, "INVALID_REQUEST", "timestamps"],
		["a language that is none", { fields: { language: "english!" } }, 400, "INVALID_REQUEST", "language"],
	] as const)("%s", async (_, asked, status, code, param) => {
		const response = await transcribe(asked);
		const told = (await response.json()) as ErrorAnswer;
		expect([response.status, told.code, told.error.param]).toEqual([status, code, param]);
	});

	test("silence", async () => {
		const response = await transcribe({ file: await toneFile(encoder, "wav", 1, 0) });
		expect([response.status, ((await response.json()) as ErrorAnswer).error.message]).toEqual([422, "The audio is silent"]);
	});

	test("an unknown field is named", async () => {
		const response = await transcribe({ fields: { diarize: "true" } });
		expect([response.status, ((await response.json()) as ErrorAnswer).error.message]).toEqual([
			400,
			expect.stringContaining("'diarize'"),
		]);
	});

	test("401, 405, 413, 415", async () => {
		expect((await transcribe({ key: "sk_inf_wrong" })).status).toBe(401);
		expect((await gate.call("GET", "/audio/transcriptions")).status).toBe(405);
		expect((await gate.call("POST", "/audio/transcriptions", { file: "x" })).status).toBe(415);
		const large = await transcribe({ file: new Uint8Array(26_214_401) });
		expect([large.status, ((await large.json()) as ErrorAnswer).code]).toEqual([413, "PAYLOAD_TOO_LARGE"]);
	});

	test("402 where the audio is dearer than the balance: nothing is sent", async () => {
		const poor = await gate.newKey({ creditUsd: "0.0001" });
		expect((await transcribe({ key: poor.secret })).status).toBe(402);
		expect(upstream.requests).toHaveLength(0);
	});

	test("503 where nothing serves the model, with the line that brings it", async () => {
		const response = await transcribe({ fields: { model: "stt-xai-v1" } });
		const { code, error } = (await response.json()) as ErrorAnswer;
		expect([response.status, code]).toEqual([503, "MODEL_OFFLINE"]);
		expect(error.message).toContain('models.entries["stt-xai-v1"].upstreams');
	});

	test.each([
		["its refusal", { status: 400, raw: '{"error":{"message":"too short"}}' }, 422, "ASR_UPSTREAM_VALIDATION_FAILED"],
		["its fault", { status: 500 }, 502, "ASR_UPSTREAM_FAILED"],
		["a page", { raw: "<html>", type: "text/html" }, 502, "ASR_UPSTREAM_FAILED"],
		["no text", { raw: "{}" }, 502, "ASR_UPSTREAM_FAILED"],
		["too many requests", { status: 429 }, 429, "MODEL_OVERLOADED"],
		["our key refused", { status: 401 }, 503, "MODEL_OFFLINE"],
		["silence", { hang: true }, 504, "REQUEST_TIMEOUT"],
	] as const)("%s of the upstream", async (_, behaviour, status, code) => {
		const before = (await gate.posts()).length;
		upstream.next(behaviour);
		const response = await transcribe();
		expect([response.status, ((await response.json()) as ErrorAnswer).code]).toEqual([status, code]);
		expect((await gate.posts()).length).toBe(before);
	});

	test("a caller that leaves pays, since the server had the audio", async () => {
		const before = (await gate.posts()).length;
		upstream.next({ hang: true });
		const leave = new AbortController();
		const asked = transcribe({ signal: leave.signal });
		asked.catch(() => {});
		await until(() => upstream.requests.length === 1, "the request at the upstream");
		leave.abort();
		await upstream.requests[0]?.aborted;
		await until(async () => (await gate.posts()).length > before, "its post");
		expect((await gate.posts()).at(-1)).toMatchObject({ status: 499, price: 240_000 });
		expect((await gate.audit()).ok).toBe(true);
	});
});

test("a file under another name is told the right one", async () => {
	const form = new FormData();
	form.set("audio", new Blob([wav as Uint8Array<ArrayBuffer>]), "speech.wav");
	const headers = { authorization: `Bearer ${gate.key}` };
	const response = await fetch(`${gate.url}/api/v1/audio/transcriptions`, { method: "POST", headers, body: form });
	expect([response.status, await response.text()]).toEqual([400, expect.stringContaining("send the file as file")]);
});
