/** Each provider through its package on a real socket: what it is sent of an edit, what comes of its answers. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { plainPicture } from "../../../../test/support/plain-picture.ts";
import { IMAGE_SCRIPTS, type ImageScript } from "../../../../test/support/providers/image-scripts.ts";
import { PROVIDER_KEY, startImageProviderServer } from "../../../../test/support/providers/image-server.ts";
import type { ModelTarget } from "../../../catalog/types.ts";
import type { UpstreamConfig } from "../../../config/index.ts";
import { ApiError } from "../../../errors/index.ts";
import { UpstreamFailure } from "../../failures.ts";
import type { ImageForward, InputPicture } from "../../images/port.ts";
import { type PublicFetch, PublicFetchFault } from "../../public-fetch/port.ts";
import { configuredServer, endpointAt } from "../../upstream-server.ts";
import { IMAGE_CAPABILITIES } from "./image-capabilities.ts";
import { providerImages } from "./make.ts";

const made = await plainPicture("64x48");
const server = startImageProviderServer(made);
beforeEach(() => server.reset());
afterAll(() => server.stop());

const picture = (byte: number): InputPicture => ({
	bytes: new Uint8Array([byte, 2, 3]),
	mediaType: "image/png",
	role: "picture",
});
const mask: InputPicture = {
	bytes: new Uint8Array([9]),
	mediaType: "image/png",
	role: "mask",
	inTwoColours: (changed) => Promise.resolve(new TextEncoder().encode(changed)),
};

interface CallOptions {
	readonly call?: Partial<ImageForward>;
	readonly target?: Partial<ModelTarget>;
	readonly model?: string;
	readonly fetchPublic?: PublicFetch;
	readonly signal?: AbortSignal;
}

function ask(script: ImageScript, { call = {}, target = {}, model = script.model, fetchPublic, signal }: CallOptions = {}) {
	const own = signal ?? new AbortController().signal;
	const config = server.upstream(script) as UpstreamConfig;
	const forward: ImageForward = {
		requestId: "request-1",
		tenant: "acc_a",
		targets: [],
		kind: "edit",
		prompt: "make it green",
		pictures: [picture(1)],
		size: { width: 1024, height: 768 },
		aspectRatio: "4:3",
		resolution: "2K",
		quality: null,
		count: 1,
		signal: own,
		onSent() {},
		...call,
	};
	return providerImages(forward, {
		target: { upstream: "x", model, weight: 1, order: 0, ...target },
		model,
		server: configuredServer("x", config),
		endpoint: endpointAt(config.url, undefined, {}),
		fetch,
		fetchPublic,
		signal: own,
	});
}

const scriptOf = (name: string): ImageScript => {
	const script = IMAGE_SCRIPTS.find(({ provider }) => provider === name);
	if (script === undefined) throw new Error(`no script of ${name}`);
	return script;
};
const failureOf = (work: Promise<unknown>): Promise<UpstreamFailure> =>
	work.then(
		() => Promise.reject(new Error("it was made")),
		(error: unknown) => {
			if (error instanceof ApiError) throw new Error(`an ApiError: ${error.message}`);
			if (!(error instanceof UpstreamFailure)) throw error;
			return error;
		},
	);

const EDITORS = IMAGE_SCRIPTS.filter(({ provider }) => provider !== "luma");

describe.each(EDITORS.map((script) => [script.provider, script] as const))("%s", (provider, script) => {
	const most = IMAGE_CAPABILITIES[provider]?.pictures(script.model) ?? 0;

	test("is sent the pictures in their order, and its picture comes back", async () => {
		const pictures = [1, 2, 3].slice(0, most).map(picture);
		const [first, ...others] = await ask(script, { call: { pictures } });
		expect(server.complaints).toEqual([]);
		expect(Buffer.from(first ?? []).equals(made)).toBe(true);
		expect(others).toEqual([]);
		const [request] = server.understood;
		expect(request?.prompt).toBe("make it green");
		expect(request?.pictures.map(([byte]) => byte)).toEqual([1, 2, 3].slice(0, most));
		const told = IMAGE_CAPABILITIES[provider]?.dimensions;
		if (told?.size) expect(request?.size).toBe("1024x768");
		if (told?.ratio) expect(request?.ratio).toBe("4:3");
		expect(server.headers[0]?.get("x-request-id")).toBe("request-1");
		expect(server.headers[0]?.get("user-agent")).toStartWith("turnpike");
	});

	test("refuses what breaks its rules of content", async () => {
		server.behave({ refuses: true });
		const failure = await failureOf(ask(script));
		expect([failure.kind, failure.answer.code]).toEqual(["request", "CONTENT_POLICY_VIOLATION"]);
	});

	test("is passed over with more pictures than it takes", async () => {
		const pictures = [1, 2, 3, 4].slice(0, most + 1).map(picture);
		const failure = await failureOf(ask(script, { call: { pictures } }));
		expect([failure.kind, failure.answer.code, failure.final]).toEqual(["given", "INVALID_REQUEST", false]);
		expect(failure.answer.message).toContain(`takes ${most}`);
		expect(server.paths).toEqual([]);
	});

	test("a wrong key is the operator's fault, a full queue asks for time, nonsense is broken", async () => {
		const kinds: string[] = [];
		for (const [status, body] of [
			[401, { error: { message: "bad key" } }],
			[429, { error: { message: "slow down" } }],
			[500, {}],
			[200, { nonsense: true }],
		] as const) {
			server.behave({ answer: () => Response.json(body, { status, headers: { "retry-after": "7" } }) });
			const failure = await failureOf(ask(script));
			kinds.push(failure.kind);
			if (status === 429) expect(failure.retryAfterSeconds).toBe(7);
			expect(failure.message).not.toContain(PROVIDER_KEY);
		}
		expect(kinds).toEqual(["account", "busy", "broken", "broken"]);
	});
});

describe("masks", () => {
	test.each([
		["fal", "fal-ai/flux-pro/v1/fill", "white"],
		["black-forest-labs", "flux-pro-1.0-fill", "white"],
		["replicate", "stability-ai/inpainting", "white"],
		["bedrock", "amazon.nova-canvas-v1:0", "black"],
	] as const)("%s is shown what is to change in %s's colour", async (name, model, colour) => {
		await ask(scriptOf(name), { model, call: { pictures: [picture(1), mask] } });
		expect(server.complaints).toEqual([]);
		const [request] = server.understood;
		expect(new TextDecoder().decode(request?.mask)).toBe(colour);
		expect(request?.pictures.length).toBe(1);
	});

	test.each(["openai", "deepinfra"])("%s is sent the mask as it is", async (name) => {
		await ask(scriptOf(name), { call: { pictures: [picture(1), mask, picture(2)] } });
		const [request] = server.understood;
		expect([...(request?.mask ?? [])]).toEqual([9]);
		expect(request?.pictures.map(([byte]) => byte)).toEqual([1, 2]);
	});

	test.each(["google", "xai", "fireworks", "togetherai"])("%s takes none", async (name) => {
		const failure = await failureOf(ask(scriptOf(name), { call: { pictures: [picture(1), mask] } }));
		expect(failure.answer.message).toContain("takes no mask");
	});
});

describe("what is told", () => {
	test("Gemini: the size by its name, but for its second generation", async () => {
		await ask(scriptOf("google"));
		await ask(scriptOf("google"), { model: "gemini-2.5-flash-image" });
		expect(server.understood.map(({ more }) => more.imageSize)).toEqual(["2K", undefined]);
		expect(server.understood[0]?.more.modalities).toEqual(["IMAGE"]);
	});

	test("xAI: the resolution it has, the quality, and several pictures at once", async () => {
		const call = { kind: "generate", pictures: [], resolution: "4K", quality: "high", count: 3 } as const;
		expect((await ask(scriptOf("xai"), { call })).length).toBe(3);
		expect(server.understood.map(({ more }) => more)).toEqual([
			{ model: "grok-imagine-image", n: 3, response_format: "b64_json", resolution: "2k", quality: "high" },
		]);
	});

	test("one at a time where it makes one: each with a seed of its own", async () => {
		const call = { kind: "generate", pictures: [], count: 3, seed: 7, steps: 9, guidance: 4, negativePrompt: "red" } as const;
		expect((await ask(scriptOf("fal"), { call })).length).toBe(3);
		expect(server.understood.map(({ seed }) => seed)).toEqual([7, 8, 9]);
		expect(server.understood[0]?.more).toMatchObject({ negative_prompt: "red", num_inference_steps: 9, guidance_scale: 4 });
	});

	test("the nearest of the sizes that it makes, or none", async () => {
		await ask(scriptOf("openai"), { target: { sizes: ["1024x1024", "1536x1024"] } });
		await ask(scriptOf("fal"), { target: { sizes: [] } });
		expect(server.understood.map(({ size }) => size)).toEqual(["1536x1024", undefined]);
	});

	test("Luma makes pictures from prompts alone", async () => {
		expect((await ask(scriptOf("luma"), { call: { kind: "generate", pictures: [] } })).length).toBe(1);
		expect(server.understood).toEqual([{ prompt: "make it green", pictures: [], ratio: "4:3", more: { model: "photon-1" } }]);
		const failure = await failureOf(ask(scriptOf("luma")));
		expect(failure.answer.message).toContain("takes no pictures");
	});
});

describe("models that enlarge and cut out", () => {
	test("take the picture and the factor, no prompt", async () => {
		const call = { kind: "upscale", prompt: "", factor: 4 } as const;
		await ask(scriptOf("fal"), { model: "fal-ai/esrgan", call, target: { parameters: { negative_prompt: "blur" } } });
		await ask(scriptOf("replicate"), { model: "nightmareai/real-esrgan", call });
		expect(server.complaints).toEqual([]);
		expect(server.understood.map(({ prompt, size }) => [prompt, size])).toEqual([
			[undefined, undefined],
			[undefined, undefined],
		]);
		expect(server.understood[0]?.more).toMatchObject({ upscale_factor: 4, negative_prompt: "blur" });
		expect(server.understood[1]?.more).toMatchObject({ scale: 4 });
	});

	test("Bedrock cuts out by a task of its own", async () => {
		await ask(scriptOf("bedrock"), { call: { kind: "background-remove", prompt: "" } });
		expect(server.understood[0]?.more.taskType).toBe("BACKGROUND_REMOVAL");
	});

	test("where words are needed, ours are said", async () => {
		await ask(scriptOf("google"), { call: { kind: "background-remove", prompt: "" } });
		expect(server.understood[0]?.prompt).toContain("Remove the background");
	});
});

describe("the operator's parameters", () => {
	test("name pictures where a model wants them, and values as they are", async () => {
		const parameters = {
			image_input: "{images}",
			note: "{width} of {unknown}",
			aspect_ratio: "{aspect_ratio}",
			seed2: "{seed}",
			go: true,
		};
		await ask(scriptOf("replicate"), {
			model: "google/nano-banana",
			call: { pictures: [picture(1), picture(2)] },
			target: { parameters },
		});
		const [request] = server.understood;
		expect(request?.pictures).toEqual([]);
		expect(request?.more).toMatchObject({
			image_input: ["data:image/png;base64,AQID", "data:image/png;base64,AgID"],
			note: "1024 of {unknown}",
			go: true,
		});
		expect(request?.more).not.toHaveProperty("seed2");
	});

	test("have places for so many pictures as they name", async () => {
		const target = { parameters: { input_image: "{image}" } };
		const failure = await failureOf(ask(scriptOf("xai"), { target, call: { pictures: [1, 2].map(picture) } }));
		expect(failure.answer.message).toContain("takes 1 picture, not 2");
	});

	test("`pictures` says how many a model takes", async () => {
		const target = { pictures: 2 };
		const failure = await failureOf(ask(scriptOf("xai"), { target, call: { pictures: [1, 2, 3].map(picture) } }));
		expect(failure.answer.message).toContain("takes 2 pictures, not 3");
	});
});

describe("answers", () => {
	test("a picture at another server is read as a public address, without our key", async () => {
		const asked: string[] = [];
		const read = (url: string) => {
			asked.push(url);
			return Promise.resolve({
				url,
				status: 200,
				headers: new Map([["content-type", "image/png"]]),
				bytes: new Uint8Array(made),
			});
		};
		server.behave({ keptAt: "https://pictures.example/1.png" });
		const pictures = await ask(scriptOf("fal"), { fetchPublic: { get: read, read } });
		expect(asked).toEqual(["https://pictures.example/1.png"]);
		expect(pictures[0]?.length).toBe(made.length);
	});

	test.each([
		"http://127.0.0.1:9/1.png",
		"http://169.254.169.254/latest",
		"http://[::1]:9/1.png",
		"http://private.example/1.png",
	])("one at %s is not read", async (keptAt) => {
		server.behave({ keptAt });
		const read = () => Promise.reject(new PublicFetchFault("private", "private.example is private"));
		const failure = await failureOf(ask(scriptOf("fal"), { fetchPublic: { get: read, read } }));
		expect(failure.kind).toBe("broken");
	});

	test("a large one comes whole", async () => {
		const large = new Uint8Array(5_000_000).fill(7);
		large.set(made);
		server.behave({ picture: large });
		for (const name of ["google", "openai", "togetherai"]) {
			const [picture] = await ask(scriptOf(name));
			expect(Buffer.from(picture ?? []).equals(large)).toBe(true);
		}
	});

	test("what is no picture is broken", async () => {
		server.behave({ picture: new TextEncoder().encode("<html>") });
		expect((await failureOf(ask(scriptOf("fal")))).kind).toBe("broken");
		expect((await failureOf(ask(scriptOf("openai")))).kind).toBe("broken");
	});

	test("models that the package does not know any more are offline", async () => {
		const failure = await failureOf(ask(scriptOf("google"), { model: "imagen-4.0-generate-001" }));
		expect(failure.kind).toBe("offline");
		expect(server.paths).toEqual([]);
	});
});

describe("a caller that leaves", () => {
	test("closes the connection", async () => {
		server.behave({ hangs: true });
		const leaving = new AbortController();
		const work = ask(scriptOf("fal"), { signal: leaving.signal });
		while (server.understood.length === 0) await Bun.sleep(5);
		leaving.abort(new Error("left"));
		await expect(work).rejects.toThrow("left");
		await server.left();
	});

	test("ends the questions to a provider whose package sleeps between them", async () => {
		server.behave({ hangs: true });
		const leaving = new AbortController();
		const work = ask(scriptOf("black-forest-labs"), { signal: leaving.signal });
		while (server.paths.length < 2) await Bun.sleep(5);
		leaving.abort(new Error("left"));
		await expect(work).rejects.toThrow("left");
		const asked = server.paths.length;
		// Longer than the pause between two questions: there is no event to wait for where nothing happens.
		await Bun.sleep(700);
		expect(server.paths.length).toBe(asked);
	});
});
