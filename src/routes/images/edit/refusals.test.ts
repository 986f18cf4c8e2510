import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import {
	base64,
	decoded,
	type ImageGateway,
	plainPicture,
	sampleImage,
	startImageGateway,
} from "../../../../test/support/image-gateway.ts";
import { upstreamEntry } from "../../../../test/support/running-gateway.ts";
import { type ScriptedImageUpstream, startScriptedImageUpstream } from "../../../../test/support/scripted-image-upstream.ts";
import { until } from "../../../../test/support/until.ts";

let images: ImageGateway;
let second: ScriptedImageUpstream;
let picture: string;
const health = { failures: 1_000, probeEveryMs: 60_000 };

beforeAll(async () => {
	second = startScriptedImageUpstream((size) => plainPicture(size));
	images = await startImageGateway({
		config: {
			limits: { failedRequests: 0, imageRequestsPerMinute: 30 },
			timeouts: { imageMs: 1_500 },
			models: {
				entries: {
					both: {
						type: "inpaint",
						image: { usd: 0.01 },
						upstreams: [
							{ upstream: "painter", weight: 1, order: 0 },
							{ upstream: "second", weight: 1, order: 1 },
						],
					},
					fallback: {
						type: "inpaint",
						image: { usd: 0.01 },
						upstreams: [
							{ upstream: "painter", weight: 1, order: 0 },
							{ upstream: "embedded", weight: 1, order: 1 },
						],
					},
				},
			},
		},
		more: { second: upstreamEntry(second.url, { health }) },
	});
	picture = base64(await plainPicture("300x300"));
});
afterEach(() => {
	images.reset();
	second.reset();
});
afterAll(async () => {
	await images.stop();
	await second.stop();
});

const edit = (body: object, options: { key?: string; signal?: AbortSignal } = {}) =>
	fetch(`${images.gate.url}/api/v1/image/edit`, {
		method: "POST",
		headers: { authorization: `Bearer ${options.key ?? images.gate.key}`, "content-type": "application/json" },
		body: JSON.stringify({ image: picture, prompt: "make it green", ...body }),
		...(options.signal ? { signal: options.signal } : {}),
	});
const told = async (response: Response) => {
	const { error, code } = (await response.json()) as { error: string; code: string };
	return { status: response.status, code, error };
};
const postsNow = async () => (await images.gate.posts()).length;

test("401 without a key, and 405 and 415 as everywhere", async () => {
	const post = (headers: Record<string, string>, method = "POST") =>
		fetch(`${images.gate.url}/api/v1/image/edit`, { method, headers, ...(method === "POST" ? { body: "{}" } : {}) });
	expect((await post({ "content-type": "application/json" })).status).toBe(401);
	const authorization = `Bearer ${images.gate.key}`;
	expect((await post({ authorization, "content-type": "text/plain" })).status).toBe(415);
	expect((await post({ authorization, "content-type": "multipart/form-data" })).status).toBe(415);
	expect((await post({ authorization }, "GET")).status).toBe(405);
});

test("402 where the edit is dearer than the balance: nobody is asked and nothing decoded", async () => {
	const poor = await images.gate.newKey({ creditUsd: "0.039" });
	expect(await told(await edit({}, { key: poor.secret }))).toMatchObject({ status: 402, code: "INSUFFICIENT_BALANCE" });
	expect(images.upstream.requests).toHaveLength(0);
});

test("403 for a key that may not use the model", async () => {
	const restrictions = { models: ["local-edit"], endpoints: null, networks: null, addresses: null };
	const narrow = await images.gate.newKey({ creditUsd: "1", key: { restrictions } });
	expect((await edit({}, { key: narrow.secret })).status).toBe(403);
	expect((await edit({ model: "local-edit", prompt: "invert" }, { key: narrow.secret })).status).toBe(200);
});

test("404 for a model that is not known", async () => {
	expect(await told(await edit({ model: "nothing-edit" }))).toMatchObject({ status: 404, code: "MODEL_NOT_FOUND" });
});

test("413 for a picture of 25 MB, in JSON and in a form, and for a body over 36 MiB", async () => {
	const large = new Uint8Array(26_214_400);
	expect(await told(await edit({ image: base64(large) }))).toMatchObject({ status: 413, code: "PAYLOAD_TOO_LARGE" });
	const form = await images.form("/image/edit", [
		["image", large],
		["prompt", "x"],
	]);
	expect(await told(form)).toMatchObject({ status: 413, code: "PAYLOAD_TOO_LARGE" });
	expect((await edit({ prompt: "x".repeat(37_748_736) })).status).toBe(413);
});

test("422 for more pixels than 33177600, from the header alone", async () => {
	const bomb = base64(sampleImage("decompression_bomb_16000x16000.png"));
	for (const model of ["firered-image-edit", "local-edit"])
		expect(await told(await edit({ image: bomb, model, prompt: "invert" }))).toMatchObject({
			status: 422,
			code: "IMAGE_TOO_LARGE",
		});
	expect(images.upstream.requests).toHaveLength(0);
});

test("422 where the server's rules of content refuse it", async () => {
	images.upstream.next({ status: 400, raw: '{"error":{"message":"Your request was rejected","code":"moderation_blocked"}}' });
	const response = await edit({});
	expect(response.headers.get("x-service-is-content-violation")).toBe("true");
	expect(await told(response)).toEqual({ status: 422, code: "CONTENT_POLICY_VIOLATION", error: "Your request was rejected" });
});

test("429 past the requests of a minute", async () => {
	const caller = await images.gate.newKey({ creditUsd: "0", changes: { tier: "paid" } });
	const answers = await Promise.all(
		Array.from({ length: 32 }, () => edit({ model: "local-edit", prompt: "nonsense" }, { key: caller.secret })),
	);
	const refused = answers.filter(({ status }) => status === 429);
	expect(refused).toHaveLength(2);
	expect(refused[0]?.headers.get("retry-after")).not.toBeNull();
});

test("503 for a model that nothing serves, with the line that brings it and what edits without one", async () => {
	const { status, code, error } = await told(await edit({ model: "qwen-edit" }));
	expect([status, code]).toEqual([503, "MODEL_OFFLINE"]);
	expect(error).toContain('models.entries["qwen-edit"].upstreams');
	expect(error).toContain('"local-edit"');
});

test.each([
	["a wrong key of ours", { status: 401, raw: '{"error":{"message":"bad key up-secret-key"}}' }, 503, "MODEL_OFFLINE"],
	["too many requests", { status: 429, headers: { "retry-after": "9" } }, 429, "MODEL_OVERLOADED"],
	["a fault", { status: 500 }, 500, "IMAGE_EDIT_ERROR"],
	["no JSON", { raw: "<html>" }, 500, "IMAGE_EDIT_ERROR"],
	["an error in a 200", { raw: '{"error":{"message":"no"}}' }, 500, "IMAGE_EDIT_ERROR"],
	["no picture", { raw: '{"data":[]}' }, 500, "IMAGE_EDIT_ERROR"],
	["text in the place of a picture", { raw: '{"data":[{"b64_json":"aGVsbG8gd29ybGQ="}]}' }, 500, "IMAGE_EDIT_ERROR"],
	["a picture that is cut off", { pictures: [sampleImage("truncated.jpg")] }, 500, "IMAGE_EDIT_ERROR"],
	["the address of another server", { asUrl: "other" }, 500, "IMAGE_EDIT_ERROR"],
	["silence", { hang: true }, 504, "REQUEST_TIMEOUT"],
] as const)("%s of the server: nothing is charged", async (_, behaviour, status, code) => {
	const before = await postsNow();
	images.upstream.always(behaviour);
	expect(await told(await edit({ model: "own-edit" }))).toMatchObject({ status, code });
	expect(await postsNow()).toBe(before);
	expect(images.gate.gateway.budgets.holdsOpen).toBe(0);
});

test("a failure here after the server's answer costs nothing either", async () => {
	const before = await postsNow();
	images.engine.failure = new Error("no memory");
	expect(await told(await edit({}))).toMatchObject({ status: 500, code: "IMAGE_EDIT_ERROR" });
	expect(await postsNow()).toBe(before);
});

test("a picture that the server keeps at an address of its own is read from there", async () => {
	images.upstream.next({ asUrl: "own" });
	expect(await decoded(await edit({}))).toMatchObject({ width: 1024, height: 1024 });
});

test("another server takes over, or what this machine can do", async () => {
	images.upstream.next({ status: 500 });
	const response = await edit({ model: "both" });
	expect([response.status, response.headers.get("x-service-model-router"), response.headers.get("x-retry-count")]).toEqual([
		200,
		"second",
		"1",
	]);
	images.upstream.next({ status: 500 });
	const here = await edit({ model: "fallback", prompt: "resize to 300x100" });
	expect(here.headers.get("x-service-model-router")).toBe("embedded");
	expect(await decoded(here)).toMatchObject({ width: 300, height: 100 });
});

test("a caller that leaves stops the server, and pays for what it was sent", async () => {
	const caller = await images.gate.newKey({ creditUsd: "1" });
	images.upstream.next({ hang: true });
	const leaving = new AbortController();
	const answer = edit({}, { key: caller.secret, signal: leaving.signal }).catch(() => null);
	await until(() => images.upstream.requests.length === 1, "the server's request");
	leaving.abort();
	await answer;
	await images.upstream.requests[0]?.aborted;
	await until(() => images.gate.gateway.budgets.holdsOpen === 0, "the end of the hold");
	expect((await images.gate.posts()).at(-1)).toMatchObject({ status: 499, price: 40_000_000, upstream: "painter" });
	expect((await images.gate.audit()).ok).toBe(true);
});
