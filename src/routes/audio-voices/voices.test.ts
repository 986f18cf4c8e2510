import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { readyEncoder } from "../../../test/support/audio-engines.ts";
import { type RunningGateway, startGateway, type TestKey, upstreamEntry } from "../../../test/support/running-gateway.ts";
import { type ScriptedAudioUpstream, startScriptedAudioUpstream } from "../../../test/support/scripted-audio-upstream.ts";
import { toneFile } from "../../../test/support/tone-file.ts";
import type { FfmpegEncoder } from "../../engines/audio/index.ts";
import { systemClock } from "../../telemetry/clock.ts";

const DAY = 86_400_000;
let gate: RunningGateway;
let upstream: ScriptedAudioUpstream;
let encoder: FfmpegEncoder;
let wav: Uint8Array;
let other: TestKey;
/** Added to the gateway's clock. */
let aheadMs = 0;

beforeAll(async () => {
	upstream = startScriptedAudioUpstream();
	encoder = await readyEncoder();
	wav = await toneFile(encoder, "wav", 5);
	gate = await startGateway({
		audio: { encoder },
		clock: { ...systemClock, wallMs: () => systemClock.wallMs() + aheadMs, monotonicMs: () => systemClock.monotonicMs() },
		config: {
			limits: { failedRequests: 0, audioRequestsPerMinute: 1_000, voicesPerAccount: 6 },
			upstreams: { clones: upstreamEntry(upstream.url) },
			models: {
				entries: {
					"tts-chatterbox-hd": {
						upstreams: [{ upstream: "clones", model: "chatterbox", weight: 1, order: 0, cloning: "voice_file" }],
					},
					"tts-minimax-speech-02-hd": { upstreams: [{ upstream: "clones", weight: 1, order: 0, cloning: "ref_audio" }] },
					"tts-orpheus": { upstreams: [{ upstream: "clones", weight: 1, order: 0 }] },
				},
			},
		},
	});
	other = await gate.newKey({ creditUsd: "1" });
});

afterEach(async () => {
	upstream.reset();
	aheadMs = 0;
	for (const { id } of await list()) await gate.call("DELETE", `/audio/voices/${id}`);
});

afterAll(async () => {
	await gate.stop();
	await upstream.stop();
});

interface Entry {
	readonly id: string;
	readonly model: string;
	readonly created: number;
	readonly expires: number;
}

function upload(file: Uint8Array | string | null = wav, fields: Readonly<Record<string, string>> = {}): Promise<Response> {
	const form = new FormData();
	for (const [name, value] of Object.entries(fields)) form.set(name, value);
	if (typeof file === "string") form.set("file", file);
	else if (file !== null) form.set("file", new Blob([file as Uint8Array<ArrayBuffer>]), "me.wav");
	return fetch(`${gate.url}/api/v1/audio/voices`, {
		method: "POST",
		headers: { authorization: `Bearer ${gate.key}` },
		body: form,
	});
}
const handle = async (fields: Readonly<Record<string, string>> = {}): Promise<string> => {
	const response = await upload(wav, fields);
	expect(response.status).toBe(200);
	return ((await response.json()) as { id: string }).id;
};
const list = async (key?: string): Promise<Entry[]> => {
	const response = await gate.call("GET", "/audio/voices", undefined, key ? { authorization: `Bearer ${key}` } : {});
	return ((await response.json()) as { object: "list"; data: Entry[] }).data;
};
const speak = (body: object, key = gate.key) =>
	gate.call("POST", "/audio/speech", { input: "Hello.", ...body }, { authorization: `Bearer ${key}` });
const MINIMAX = "tts-minimax-speech-02-hd";
const CHATTERBOX = "tts-chatterbox-hd";

describe("a voice", () => {
	test("is made from a sample, and listed with the days that it has", async () => {
		const response = await upload();
		expect(response.status).toBe(200);
		const made = (await response.json()) as { id: string; model: string };
		expect(made).toEqual({ id: expect.stringMatching(/^vv_[A-Za-z0-9_-]+$/), model: CHATTERBOX });
		const [entry] = await list();
		expect(entry).toMatchObject(made);
		expect((entry?.expires ?? 0) - (entry?.created ?? 0)).toBe(7 * 86_400);
		expect((await gate.posts()).length).toBe(0);
	});

	test("speaks: the sample goes with the request as a file", async () => {
		const voice = await handle();
		const response = await speak({ model: CHATTERBOX, voice, temperature: 0.5 });
		expect(response.status).toBe(200);
		const [sent] = upstream.requests;
		expect(sent?.path).toBe("/v1/audio/speech/upload");
		expect(sent?.body).toEqual({ model: "chatterbox", input: "Hello.", response_format: "mp3", temperature: "0.5" });
		expect(sent?.files.voice_file).toEqual(wav);
	});

	test("speaks: or inside the body, as the server takes it", async () => {
		const voice = await handle({ model: MINIMAX });
		expect((await speak({ model: MINIMAX, voice })).status).toBe(200);
		const [sent] = upstream.requests;
		expect(sent?.path).toBe("/v1/audio/speech");
		expect(sent?.body).toMatchObject({
			task_type: "Base",
			ref_audio: `data:audio/wav;base64,${Buffer.from(wav).toString("base64")}`,
		});
		expect(sent?.body.voice).toBeUndefined();
	});

	test("of several megabytes comes back byte for byte", async () => {
		const long = await toneFile(encoder, "wav", 70);
		expect(long.length).toBeGreaterThan(3 * 1_048_576);
		const made = (await (await upload(long)).json()) as { id: string };
		expect((await speak({ model: CHATTERBOX, voice: made.id })).status).toBe(200);
		expect(Buffer.compare(upstream.requests[0]?.files.voice_file ?? new Uint8Array(0), long)).toBe(0);
	});

	test("is its owner's alone, and its model's", async () => {
		const voice = await handle();
		expect((await speak({ model: CHATTERBOX, voice }, other.secret)).status).toBe(400);
		const wrong = await speak({ model: MINIMAX, voice });
		expect(wrong.status).toBe(400);
		expect(((await wrong.json()) as { error: { message: string } }).error.message).toContain(CHATTERBOX);
		expect((await speak({ model: "tts-orpheus", voice })).status).toBe(400);
		expect(await list(other.secret)).toEqual([]);
		const theirs = await gate.call("DELETE", `/audio/voices/${voice}`, undefined, { authorization: `Bearer ${other.secret}` });
		expect(theirs.status).toBe(404);
		expect(upstream.requests).toHaveLength(0);
	});

	test("is deleted with its sample", async () => {
		const voice = await handle();
		const gone = await gate.call("DELETE", `/audio/voices/${voice}`);
		expect([gone.status, await gone.json()]).toEqual([200, { id: voice, deleted: true }]);
		expect((await gate.call("DELETE", `/audio/voices/${voice}`)).status).toBe(404);
		expect((await speak({ model: CHATTERBOX, voice })).status).toBe(400);
		expect(await gate.admin.db.selectFrom("voice_sample_parts").selectAll().execute()).toEqual([]);
	});

	test("has seven days from its upload, used or not", async () => {
		const voice = await handle();
		aheadMs = 6 * DAY;
		expect((await speak({ model: CHATTERBOX, voice })).status).toBe(200);
		aheadMs = 7 * DAY + 1_000;
		expect((await speak({ model: CHATTERBOX, voice })).status).toBe(400);
		expect(await list()).toEqual([]);
	});

	test("or seven days from its last use, where the model keeps voices", async () => {
		const voice = await handle({ model: MINIMAX });
		aheadMs = 6 * DAY;
		expect((await speak({ model: MINIMAX, voice })).status).toBe(200);
		await gate.openedStore.store.settled();
		aheadMs = 12 * DAY;
		expect((await speak({ model: MINIMAX, voice })).status).toBe(200);
		await gate.openedStore.store.settled();
		aheadMs = 20 * DAY;
		expect((await speak({ model: MINIMAX, voice })).status).toBe(400);
	});

	test("a failed request is no use", async () => {
		const voice = await handle({ model: MINIMAX });
		aheadMs = 6 * DAY;
		upstream.next({ status: 500 });
		expect((await speak({ model: MINIMAX, voice })).status).toBe(500);
		await gate.openedStore.store.settled();
		aheadMs = 8 * DAY;
		expect((await speak({ model: MINIMAX, voice })).status).toBe(400);
	});

	test("there are so many at once, then 400", async () => {
		for (let count = 0; count < 6; count++) await handle();
		const seventh = await upload();
		expect([seventh.status, ((await seventh.json()) as { error: string }).error]).toEqual([
			400,
			expect.stringContaining("6 voices"),
		]);
		await gate.call("DELETE", `/audio/voices/${(await list())[0]?.id}`);
		await handle();
	});
});

describe("an upload is refused", () => {
	interface Refusal {
		readonly error: string;
		readonly code: string;
	}
	const text = new TextEncoder().encode("this is a text and no sound at all");

	test.each([
		["without a file", null, {}, 400, "INVALID_REQUEST"],
		["with a file as text", "UklGRg==", {}, 400, "INVALID_REQUEST"],
		["with an empty file", new Uint8Array(0), {}, 400, "INVALID_REQUEST"],
		["with what is no audio", text, {}, 400, "INVALID_AUDIO_FORMAT"],
		["with a damaged file", new TextEncoder().encode(`RIFF....WAVE${"x".repeat(500)}`), {}, 400, "INVALID_AUDIO_FORMAT"],
		["for a model that clones none", undefined, { model: "tts-orpheus" }, 400, "INVALID_MODEL"],
		["for an unknown model", undefined, { model: "tts-nothing" }, 400, "INVALID_MODEL"],
		["over 25 MB", new Uint8Array(26_214_401), {}, 413, "PAYLOAD_TOO_LARGE"],
		["over the route's limit", new Uint8Array(27_400_000), {}, 413, "PAYLOAD_TOO_LARGE"],
	] as const)("%s", async (_, file, fields, status, code) => {
		const response = await upload(file === undefined ? wav : file, fields);
		const told = (await response.json()) as Refusal;
		expect([response.status, told.code, typeof told.error]).toEqual([status, code, "string"]);
	});

	test("silent, or in a container that the model does not take", async () => {
		const silent = await upload(await toneFile(encoder, "wav", 5, 0));
		expect([silent.status, ((await silent.json()) as Refusal).code]).toEqual([400, "INVALID_AUDIO_FORMAT"]);
		const flac = await toneFile(encoder, "flac", 5);
		expect((await upload(flac)).status).toBe(200);
		const refused = await upload(flac, { model: MINIMAX });
		expect([refused.status, ((await refused.json()) as Refusal).error]).toEqual([400, expect.stringContaining("mp3, wav")]);
		expect((await upload(await toneFile(encoder, "opus", 5))).status).toBe(400);
	});

	test("as JSON, without a key, by another method; further fields are ignored", async () => {
		expect((await gate.call("POST", "/audio/voices", { model: CHATTERBOX })).status).toBe(415);
		expect((await fetch(`${gate.url}/api/v1/audio/voices`)).status).toBe(401);
		expect((await gate.call("PATCH", "/audio/voices", {})).status).toBe(405);
		expect((await upload(wav, { name: "me", description: "x" })).status).toBe(200);
	});

	test("a body that is no form is told what is wrong", async () => {
		const response = await fetch(`${gate.url}/api/v1/audio/voices`, {
			method: "POST",
			headers: { authorization: `Bearer ${gate.key}`, "content-type": "multipart/form-data; boundary=x" },
			body: "--y\r\n",
		});
		expect([response.status, ((await response.json()) as Refusal).error]).toEqual([400, expect.stringContaining("boundary")]);
	});
});

test("where no upstream clones, both the upload and the speech say which line brings it", async () => {
	const bare = await startGateway({
		audio: { encoder },
		config: {
			upstreams: { plain: upstreamEntry(upstream.url) },
			models: { entries: { [CHATTERBOX]: { upstreams: [{ upstream: "plain", weight: 1, order: 0 }] } } },
		},
	});
	try {
		const upload = (bytes: Uint8Array) => {
			const form = new FormData();
			form.set("file", new Blob([bytes as Uint8Array<ArrayBuffer>]), "me.wav");
			const headers = { authorization: `Bearer ${bare.key}` };
			return fetch(`${bare.url}/api/v1/audio/voices`, { method: "POST", headers, body: form });
		};
		const response = await upload(wav);
		expect(response.status).toBe(503);
		expect(((await response.json()) as { error: string }).error).toContain("set cloning at one of");
		// What would never be taken is told as such.
		expect((await upload(Buffer.from("no sound"))).status).toBe(400);
	} finally {
		await bare.stop();
	}
});
