import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { readyEncoder } from "../../../test/support/audio-engines.ts";
import type { ScriptedSpeechRequest } from "../../../test/support/providers/speech-scripts.ts";
import { type SpeechServer, startSpeechServer } from "../../../test/support/providers/speech-server.ts";
import { type RunningGateway, startGateway } from "../../../test/support/running-gateway.ts";
import { toneFile } from "../../../test/support/tone-file.ts";
import { until } from "../../../test/support/until.ts";
import type { AudioFormatName } from "../../catalog/types.ts";

let gate: RunningGateway;
let server: SpeechServer;
let sample: Uint8Array;
/** Voices that the scripted providers keep. */
const kept = new Map<string, { readonly handle: string; readonly bytes: Uint8Array | string }>();
let made = 0;
/** The next upload waits for it. */
let beforeUpload: Promise<unknown> | null = null;
let refuseUpload: Response | null = null;

/** Making and deleting of voices, from the references of ElevenLabs, LMNT and fal. */
async function voices(asked: ScriptedSpeechRequest): Promise<Response | undefined> {
	const { provider, method, path, body, files } = asked;
	const place = `${provider} ${method} ${path.replace(/\/their-\d+$/, "/:id")}`;
	if (["elevenlabs POST /v1/voices/add", "lmnt POST /v1/ai/voice", "fal POST /fal-ai/minimax/voice-clone"].includes(place)) {
		await beforeUpload;
		if (refuseUpload !== null) return refuseUpload;
		const id = `their-${++made}`;
		kept.set(id, { handle: String(body.name ?? ""), bytes: files.files ?? String(body.audio_url) });
		const name = { elevenlabs: "voice_id", lmnt: "id", fal: "custom_voice_id" }[provider] ?? "";
		return Response.json({ [name]: id, requires_verification: false });
	}
	if (place === "elevenlabs DELETE /v1/voices/:id" || place === "lmnt DELETE /v1/ai/voice/:id")
		return kept.delete(path.split("/").at(-1) ?? "") ? Response.json({ status: "ok" }) : new Response("{}", { status: 404 });
	const spoken = place === "elevenlabs POST /v1/text-to-speech/:id" ? path.split("/").at(-1) : undefined;
	if (spoken !== undefined && !kept.has(spoken))
		return Response.json(
			{ detail: { status: "voice_not_found", message: "A voice with that id was not found." } },
			{ status: 404 },
		);
	return undefined;
}

beforeAll(async () => {
	const encoder = await readyEncoder();
	const formats = ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const;
	const sounds = await Promise.all(formats.map(async (format) => [format, await toneFile(encoder, format, 0.3)] as const));
	sample = await toneFile(encoder, "wav", 1);
	server = startSpeechServer(Object.fromEntries(sounds) as Record<AudioFormatName, Uint8Array>);
	const target = (upstream: string, more: object) => [{ upstream, weight: 1, order: 0, ...more }];
	gate = await startGateway({
		audio: { encoder },
		config: {
			limits: { failedRequests: 0, audioRequestsPerMinute: 1_000 },
			timeouts: { speechMs: 20_000 },
			upstreams: server.upstreams,
			models: {
				entries: {
					"tts-chatterbox-hd": { upstreams: target("elevenlabs", { model: "eleven_turbo_v2_5", cloning: "registered" }) },
					"tts-minimax-speech-02-hd": {
						upstreams: target("fal", { model: "fal-ai/minimax/speech-02-hd", cloning: "registered" }),
					},
				},
			},
		},
	});
});
afterEach(() => {
	server.reset();
	kept.clear();
	beforeUpload = null;
	refuseUpload = null;
});
afterAll(async () => {
	await gate.stop();
	await server.stop();
});

async function createVoice(model = "tts-chatterbox-hd"): Promise<string> {
	server.also(voices);
	const form = new FormData();
	form.set("model", model);
	form.set("file", new Blob([sample as Uint8Array<ArrayBuffer>]), "me.wav");
	const response = await fetch(`${gate.url}/api/v1/audio/voices`, {
		method: "POST",
		headers: { authorization: `Bearer ${gate.key}` },
		body: form,
	});
	expect(response.status).toBe(200);
	return ((await response.json()) as { id: string }).id;
}

const speak = (voice: string, model = "tts-chatterbox-hd") =>
	gate.call("POST", "/audio/speech", { model, voice, input: "Hello." });
const uploads = () => server.requests.filter(({ path }) => /voices\/add|voice-clone/.test(path)).length;

test("a sample goes to the upstream once, however many ask at once; its name is used, and ends with the handle", async () => {
	const voice = await createVoice();
	const upload = Promise.withResolvers<void>();
	beforeUpload = upload.promise;
	const asked = Array.from({ length: 5 }, () => speak(voice));
	await until(() => uploads() === 1);
	upload.resolve();
	for (const response of await Promise.all(asked)) expect(response.status).toBe(200);
	expect((await speak(voice)).status).toBe(200);
	expect(uploads()).toBe(1);
	expect([...kept.values()]).toEqual([{ handle: voice, bytes: sample }]);
	const [name] = kept.keys();
	const spoken = server.requests.filter(({ path }) => path.startsWith("/v1/text-to-speech/"));
	expect(spoken.map(({ path }) => path)).toEqual(Array.from({ length: 6 }, () => `/v1/text-to-speech/${name}`));
	expect((await gate.call("DELETE", `/audio/voices/${voice}`)).status).toBe(200);
	await until(() => kept.size === 0);
	await until(async () => (await gate.admin.db.selectFrom("upstream_voices").selectAll().execute()).length === 0);
	expect(server.complaints).toEqual([]);
});

test("an upload that is refused costs nothing and is tried anew by the next request", async () => {
	const voice = await createVoice();
	const before = await gate.balance();
	refuseUpload = Response.json({ detail: { status: "quota_exceeded" } }, { status: 401 });
	expect((await speak(voice)).status).toBe(503);
	refuseUpload = Response.json({ detail: "The sample is too short" }, { status: 422 });
	const refused = await speak(voice);
	expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("too short")]);
	expect(await gate.balance()).toBe(before);
	refuseUpload = null;
	expect((await speak(voice)).status).toBe(200);
});

test("what is no name of a voice is not kept: the next request makes one", async () => {
	const id = await createVoice();
	for (const voice_id of [undefined, "", 5, "x".repeat(300)]) {
		refuseUpload = Response.json({ voice_id });
		expect((await speak(id)).status).toBe(500);
	}
	refuseUpload = null;
	expect((await speak(id)).status).toBe(200);
});

test("a caller that leaves while the sample is on its way pays nothing, and the voice is there for the next", async () => {
	const voice = await createVoice();
	const before = await gate.balance();
	const upload = Promise.withResolvers<void>();
	beforeUpload = upload.promise;
	const stop = new AbortController();
	const asked = fetch(`${gate.url}/api/v1/audio/speech`, {
		method: "POST",
		headers: { authorization: `Bearer ${gate.key}`, "content-type": "application/json" },
		body: JSON.stringify({ model: "tts-chatterbox-hd", voice, input: "Hello." }),
		signal: stop.signal,
	}).catch(() => null);
	await until(() => uploads() === 1);
	stop.abort();
	await asked;
	await until(() => gate.gateway.budgets.holdsOpen === 0);
	upload.resolve();
	expect(await gate.balance()).toBe(before);
	expect((await speak(voice)).status).toBe(200);
	expect(uploads()).toBe(1);
});

test("a voice that the upstream does not know any more is made anew", async () => {
	const voice = await createVoice();
	expect((await speak(voice)).status).toBe(200);
	kept.clear();
	expect((await speak(voice)).status).toBe(503);
	expect((await speak(voice)).status).toBe(200);
	expect(uploads()).toBe(2);
});

test("MiniMax on fal is given the sample as a data URL, and its name speaks", async () => {
	const model = "tts-minimax-speech-02-hd";
	const voice = await createVoice(model);
	expect((await speak(voice, model)).status).toBe(200);
	const [name, { bytes } = { bytes: "" }] = [...kept][0] ?? [];
	expect(bytes).toBe(`data:audio/wav;base64,${Buffer.from(sample).toString("base64")}`);
	const said = server.requests.find(({ path }) => path === "/fal-ai/minimax/speech-02-hd");
	expect(said?.body.voice_setting).toEqual({ voice_id: name });
	// Its voices end by themselves: only the row goes.
	expect((await gate.call("DELETE", `/audio/voices/${voice}`)).status).toBe(200);
	await until(async () =>
		(await gate.admin.db.selectFrom("upstream_voices").selectAll().execute()).every((row) => row.voice_id !== voice),
	);
	expect(server.complaints).toEqual([]);
});
