import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { readyEncoder, ScriptedSpeechEngine } from "../../../test/support/audio-engines.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../../../test/support/running-gateway.ts";
import { type ScriptedAudioUpstream, startScriptedAudioUpstream } from "../../../test/support/scripted-audio-upstream.ts";
import { until } from "../../../test/support/until.ts";
import { ApiError } from "../../errors/index.ts";

let gate: RunningGateway;
let upstream: ScriptedAudioUpstream;
const engine = new ScriptedSpeechEngine();

beforeAll(async () => {
	upstream = startScriptedAudioUpstream();
	const voices = upstreamEntry(upstream.url, { health: { failures: 1_000, probeEveryMs: 60_000 } });
	gate = await startGateway({
		audio: { speech: engine, encoder: await readyEncoder() },
		config: {
			limits: { failedRequests: 0, audioRequestsPerMinute: 100 },
			timeouts: { speechMs: 1_000 },
			upstreams: { first: voices, second: voices },
			models: {
				entries: {
					"tts-orpheus": {
						upstreams: [
							{ upstream: "first", weight: 1, order: 0 },
							{ upstream: "second", weight: 1, order: 1 },
						],
					},
					"tts-xai-v1": { upstreams: [{ upstream: "first", weight: 1, order: 0 }] },
				},
			},
		},
	});
});

afterEach(() => {
	upstream.reset();
	engine.diction = {};
});

afterAll(async () => {
	await gate.stop();
	await upstream.stop();
});

const speak = (body: object, options: { key?: string; signal?: AbortSignal } = {}) =>
	fetch(`${gate.url}/api/v1/audio/speech`, {
		method: "POST",
		headers: { authorization: `Bearer ${options.key ?? gate.key}`, "content-type": "application/json" },
		body: JSON.stringify(body),
		...(options.signal ? { signal: options.signal } : {}),
	});
const told = async (response: Response) => {
	const body = (await response.json()) as { error: { message: string; type: string }; code: string };
	return { status: response.status, code: body.code, message: body.error.message, type: body.error.type };
};

test("401 without a key, and 404, 405 and 415 as everywhere", async () => {
	const post = (headers: Record<string, string>, method = "POST") =>
		fetch(`${gate.url}/api/v1/audio/speech`, { method, headers, ...(method === "POST" ? { body: "{}" } : {}) });
	expect((await post({ "content-type": "application/json" })).status).toBe(401);
	const authorization = `Bearer ${gate.key}`;
	expect((await post({ authorization, "content-type": "text/plain" })).status).toBe(415);
	expect((await post({ authorization, "content-type": "multipart/form-data; boundary=x" })).status).toBe(415);
	expect((await post({ authorization }, "GET")).status).toBe(405);
});

test("402 where the text is dearer than the balance: nothing is spoken", async () => {
	const poor = await gate.newKey({ creditUsd: "0.000001" });
	const { status, code, type } = await told(await speak({ input: "x".repeat(100) }, { key: poor.secret }));
	expect([status, code, type]).toEqual([402, "INSUFFICIENT_BALANCE", "insufficient_quota"]);
	expect(engine.running).toBe(0);
});

test("403 for a key that may not use the model", async () => {
	const restrictions = { models: ["tts-xai-v1"], endpoints: null, networks: null, addresses: null };
	const narrow = await gate.newKey({ creditUsd: "1", key: { restrictions } });
	expect((await speak({ input: "Hi." }, { key: narrow.secret })).status).toBe(403);
});

test("413 for a body over 1 MiB", async () => {
	expect((await speak({ input: "x".repeat(1_048_577) })).status).toBe(413);
});

test("429 when the engine's queue is full, with Retry-After and no charge", async () => {
	engine.diction = { crashAt: 0, fault: new ApiError("MODEL_OVERLOADED", { retryAfterSeconds: 3 }) };
	const before = (await gate.posts()).length;
	const response = await speak({ input: "Hi." });
	expect(response.headers.get("retry-after")).toBe("3");
	expect(await told(response)).toMatchObject({ status: 429, code: "MODEL_OVERLOADED" });
	expect((await gate.posts()).length).toBe(before);
});

test("429 past the requests of a minute", async () => {
	const caller = await gate.newKey({ creditUsd: "1", changes: { tier: "paid" } });
	const statuses = new Map<number, number>();
	const answers = await Promise.all(
		Array.from({ length: 103 }, () => speak({ model: "tts-xai-v1", input: "Hi." }, { key: caller.secret })),
	);
	for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
	expect(Object.fromEntries(statuses)).toEqual({ 200: 100, 429: 3 });
});

test("500 where the engine crashes in the middle: that request fails, nothing is charged, the next one works", async () => {
	const before = (await gate.posts()).length;
	engine.diction = { crashAt: 1, fault: new ApiError("INFERENCE_FAILED") };
	expect(await told(await speak({ input: "One. Two." }))).toMatchObject({
		status: 500,
		code: "INFERENCE_FAILED",
		type: "server_error",
	});
	const stream = await speak({ input: "One. Two.", response_format: "pcm", streaming: true });
	expect(stream.status).toBe(200);
	expect(await stream.bytes().catch((error: unknown) => (error as Error).name)).not.toBeInstanceOf(Uint8Array);
	engine.diction = {};
	await until(() => gate.gateway.budgets.holdsOpen === 0, "the end of the hold");
	expect((await gate.posts()).length).toBe(before);
	expect((await speak({ input: "One. Two." })).status).toBe(200);
});

test("503 for a model that nothing serves, with the line that brings it", async () => {
	const { status, code, message } = await told(await speak({ model: "tts-gemini-3-1-flash", input: "Hi." }));
	expect([status, code]).toEqual([503, "MODEL_OFFLINE"]);
	expect(message).toContain('models.entries["tts-gemini-3-1-flash"].upstreams');
});

test("another upstream takes over until the first byte", async () => {
	for (const fault of [{ status: 500 }, { raw: "<html><body>Welcome</body></html>", type: "audio/mpeg" }]) {
		upstream.next(fault, {});
		const response = await speak({ model: "tts-orpheus", input: "Hi." });
		expect(response.status).toBe(200);
		expect(response.headers.get("x-service-model-router")).toBe("second");
		expect(response.headers.get("x-retry-count")).toBe("1");
	}
});

test.each([
	["a refusal", { status: 400, raw: '{"error":{"message":"voice is too loud"}}' }, 400, "INVALID_REQUEST", "voice is too loud"],
	["a wrong key of ours", { status: 401, raw: '{"error":{"message":"bad key sk-up"}}' }, 503, "MODEL_OFFLINE", "offline"],
	["too many requests", { status: 429, headers: { "retry-after": "9" } }, 429, "MODEL_OVERLOADED", "overloaded"],
	["a fault", { status: 500 }, 500, "INFERENCE_FAILED", "failed"],
	["a page of HTML", { raw: "<html>", type: "text/html" }, 500, "INFERENCE_FAILED", "failed"],
	["an error in a 200", { raw: '{"error":{"message":"no"}}', type: "application/json" }, 500, "INFERENCE_FAILED", "failed"],
	["a page of HTML that is called audio", { raw: "\n<!DOCTYPE html>", type: "audio/mpeg" }, 500, "INFERENCE_FAILED", "failed"],
	[
		"an error that is called bytes",
		{ raw: '{"detail":"no"}', type: "application/octet-stream" },
		500,
		"INFERENCE_FAILED",
		"failed",
	],
	...[
		"<script>alert(1)</script>",
		"<svg xmlns='http://www.w3.org/2000/svg'/>",
		"<!-- --><html>",
		"Internal Server Error: key sk-up at http://10.1.2.3:8000",
		"\ufeff{}",
		"é".repeat(400),
	].map(
		(raw) =>
			[`text that is called audio: ${raw.slice(0, 20)}`, { raw, type: "audio/mpeg" }, 500, "INFERENCE_FAILED", "failed"] as const,
	),
	...["ID3\x04\0\0\0\0\0\0", "\xff\xfb\x90\x64"].map(
		(beginning) =>
			[
				`text behind the first bytes of a format: ${JSON.stringify(beginning)}`,
				{
					raw: Buffer.from(`${beginning}${"Internal Server Error: key sk-up at http://10.1.2.3 ".repeat(20)}`, "latin1"),
					type: "audio/mpeg",
				},
				500,
				"INFERENCE_FAILED",
				"failed",
			] as const,
	),
	[
		"bytes of no format that are called audio",
		{ raw: Uint8Array.from({ length: 600 }, (_, index) => (index * 37) % 256), type: "audio/mpeg" },
		500,
		"INFERENCE_FAILED",
		"failed",
	],
	["text that is called samples", { raw: "no ".repeat(300), type: "audio/pcm" }, 500, "INFERENCE_FAILED", "failed"],
	["null in JSON", { raw: "null", type: "application/json" }, 500, "INFERENCE_FAILED", "failed"],
	["no byte", { raw: new Uint8Array(0) }, 500, "INFERENCE_FAILED", "failed"],
	["silence", { hang: true }, 504, "REQUEST_TIMEOUT", "in time"],
] as const)("%s of the upstream", async (_, behaviour, status, code, text) => {
	const before = (await gate.posts()).length;
	upstream.always(behaviour);
	const answer = await told(await speak({ model: "tts-xai-v1", input: "Hi." }));
	expect([answer.status, answer.code]).toEqual([status, code]);
	expect(answer.message).toContain(text);
	expect((await gate.posts()).length).toBe(before);
});

test("where one upstream takes all of the time, the next one is neither asked nor blamed", async () => {
	upstream.always({ hang: true });
	expect(await told(await speak({ model: "tts-orpheus", input: "Hi." }))).toMatchObject({ status: 504, code: "REQUEST_TIMEOUT" });
	expect(upstream.requests).toHaveLength(1);
});

test("an upstream that breaks off in the middle costs nothing, and its part is not taken for the whole", async () => {
	const before = (await gate.posts()).length;
	upstream.next({ dieInTheMiddle: true });
	expect((await speak({ model: "tts-xai-v1", input: "Hello." })).status).toBe(500);
	const cut = Promise.withResolvers<void>();
	upstream.next({ dieInTheMiddle: true, beforeSecondHalf: cut.promise });
	const stream = await speak({ model: "tts-xai-v1", input: "Hello.", streaming: true });
	expect(stream.status).toBe(200);
	const reader = stream.body?.getReader();
	expect((await reader?.read())?.value?.length).toBeGreaterThan(0);
	cut.resolve();
	const end = await (async () => {
		for (let read = await reader?.read(); read && !read.done; read = await reader?.read());
		return "whole";
	})().catch(() => "broken");
	expect(end).toBe("broken");
	await until(() => gate.gateway.budgets.holdsOpen === 0, "the end of the hold");
	expect((await gate.posts()).length).toBe(before);
});

test("a caller that leaves stops the built-in voices and pays for what was spoken", async () => {
	const before = (await gate.posts()).length;
	engine.diction = { afterFirst: new Promise(() => {}) };
	const leave = new AbortController();
	const input = "The first. The second. The third.";
	const response = await speak({ input, response_format: "pcm", streaming: true }, { signal: leave.signal });
	await response.body?.getReader().read();
	leave.abort();
	await until(async () => (await gate.posts()).length > before, "the post of the one that left");
	await until(() => engine.running === 0, "the end of the synthesis");
	expect((await gate.posts()).at(-1)).toMatchObject({ status: 499, upstream: "embedded", price: 11 * 3_500 });
});

test("a caller that leaves a server that was given the text pays for all of it", async () => {
	const before = (await gate.posts()).length;
	upstream.always({ hang: true });
	const leave = new AbortController();
	const response = speak({ model: "tts-xai-v1", input: "Hello." }, { signal: leave.signal });
	response.catch(() => {});
	await until(() => upstream.requests.length === 1, "the request at the upstream");
	leave.abort();
	await upstream.requests[0]?.aborted;
	// The server was given the whole text.
	await until(async () => (await gate.posts()).length > before, "the post of the one that left");
	expect((await gate.posts()).at(-1)).toMatchObject({ status: 499, upstream: "first", price: 6 * 18_750 });
});

test("60 requests at once are each answered and charged once", async () => {
	const caller = await gate.newKey({ creditUsd: "1" });
	const before = (await gate.posts()).length;
	const answers = await Promise.all(
		Array.from({ length: 60 }, async (_, index) => {
			const response = await speak(
				{ input: `Number ${index}.`, response_format: index % 2 ? "mp3" : "wav" },
				{ key: caller.secret },
			);
			return [response.status, (await response.bytes()).length > 1_000] as const;
		}),
	);
	expect(answers.every(([status, sounds]) => status === 200 && sounds)).toBe(true);
	const posts = (await gate.posts()).slice(before);
	expect(posts).toHaveLength(60);
	const characters = Array.from({ length: 60 }, (_, index) => `Number ${index}.`.length).reduce((sum, length) => sum + length);
	expect(posts.reduce((sum, { price }) => sum + price, 0)).toBe(characters * 3_500);
	expect(gate.gateway.budgets.holdsOpen).toBe(0);
	expect((await gate.audit()).ok).toBe(true);
});
