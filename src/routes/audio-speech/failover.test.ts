import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { readyEncoder, ScriptedSpeechEngine } from "../../../test/support/audio-engines.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../../../test/support/running-gateway.ts";
import {
	audioOf,
	type ScriptedAudioUpstream,
	startScriptedAudioUpstream,
} from "../../../test/support/scripted-audio-upstream.ts";
import { ApiError } from "../../errors/index.ts";

const KEY = "sk-upstream-SECRET-0001";
let gate: RunningGateway;
let upstream: ScriptedAudioUpstream;
const engine = new ScriptedSpeechEngine();
const target = (name: string, order: number) => ({ upstream: name, weight: 1, order });

beforeAll(async () => {
	upstream = startScriptedAudioUpstream();
	gate = await startGateway({
		audio: { speech: engine, encoder: await readyEncoder() },
		config: {
			limits: { failedRequests: 0 },
			upstreams: { voices: upstreamEntry(upstream.url, { key: KEY, health: { failures: 1_000, probeEveryMs: 60_000 } }) },
			models: {
				entries: {
					"tts-kokoro": { upstreams: [target("voices", 0), target("embedded", 1)] },
					own: {
						type: "tts",
						speech: { voices: ["af_sky"], perMillionCharacters: 1 },
						upstreams: [target("embedded", 0), target("voices", 1)],
					},
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

const speak = (body: object) => gate.call("POST", "/audio/speech", { input: "Hello.", ...body });

test("a server of the built-in model goes first, and the built-in voices where it fails", async () => {
	expect(await (await speak({})).bytes()).toEqual(audioOf("Hello."));
	expect(engine.requests).toHaveLength(0);
	upstream.next({ status: 500 });
	const response = await speak({});
	expect([response.status, response.headers.get("x-service-model-router")]).toEqual([200, "embedded"]);
	expect((await gate.posts()).at(-1)).toMatchObject({ upstream: "embedded", price: 6 * 3_500 });
});

test.each([{}, { streaming: true }, { stream_format: "sse" }])(
	"sound tells no key of ours, and keeps its length: %j",
	async (body) => {
		const said = Buffer.concat([audioOf("Hello."), Buffer.from(`{"error":"bad key ${KEY}"}`)]);
		upstream.next({ raw: said });
		const bytes = await (await speak(body)).bytes();
		const told = Buffer.from(bytes).toString("latin1");
		const pieces = [...told.matchAll(/"audio":"([^"]*)"/g)].map(([, piece]) =>
			Buffer.from(piece ?? "", "base64").toString("latin1"),
		);
		const sound = pieces.length > 0 ? pieces.join("") : told;
		expect(sound).toBe(said.toString("latin1").replace(KEY, "*".repeat(KEY.length)));
	},
);

test("a part of the sound is no sound", async () => {
	upstream.next({ status: 206, raw: audioOf("Hello.") as unknown as string, type: "audio/mpeg" });
	expect((await speak({})).headers.get("x-service-model-router")).toBe("embedded");
});

test("what the server refuses is not asked of the built-in voices", async () => {
	upstream.next({ status: 400, raw: '{"error":{"message":"no"}}' });
	expect((await speak({})).status).toBe(400);
	expect(engine.requests).toHaveLength(0);
});

test("a model of one's own may have the built-in voices first, and a server where they cannot", async () => {
	expect((await speak({ model: "own" })).headers.get("x-service-model-router")).toBe("embedded");
	engine.diction = { crashAt: 0, fault: new ApiError("MODEL_OFFLINE") };
	const response = await speak({ model: "own" });
	expect([response.status, response.headers.get("x-service-model-router")]).toEqual([200, "voices"]);
	expect((await gate.posts()).at(-1)).toMatchObject({ model: "own", upstream: "voices", price: 6 * 1_000 });
});

test("where both fail the last fault is told and nothing is charged", async () => {
	const before = (await gate.posts()).length;
	upstream.next({ status: 500 });
	engine.diction = { crashAt: 0, fault: new ApiError("MODEL_OVERLOADED", { retryAfterSeconds: 2 }) };
	expect((await speak({})).status).toBe(429);
	expect((await gate.posts()).length).toBe(before);
});

test("nothing that says why is missing where the engine is not there: 503 with the reason", async () => {
	engine.diction = {
		crashAt: 0,
		fault: new ApiError("MODEL_OFFLINE", { message: "The embedded voice is being downloaded: 3 of 119 MB" }),
	};
	upstream.next({ status: 503 });
	const response = await speak({});
	expect(response.status).toBe(503);
	expect(await response.text()).toContain("3 of 119 MB");
});

test("what the built-in voices cannot say goes to the servers alone", async () => {
	for (const model of ["tts-kokoro", "own"]) {
		expect((await speak({ model, input: "Привет.", voice: "af_sky" })).status).toBe(200);
		upstream.next({ status: 500 });
		expect((await speak({ model, input: "Привет.", voice: "af_sky" })).status).toBe(500);
	}
	expect(engine.requests).toHaveLength(0);
});
