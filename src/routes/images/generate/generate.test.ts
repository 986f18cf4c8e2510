import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { decoded, type ImageGateway, plainPicture, startImageGateway } from "../../../../test/support/image-gateway.ts";
import { upstreamEntry } from "../../../../test/support/running-gateway.ts";
import { startScriptedImageUpstream } from "../../../../test/support/scripted-image-upstream.ts";

let images: ImageGateway;
const diffusion = startScriptedImageUpstream((size) => plainPicture(size));

beforeAll(async () => {
	images = await startImageGateway({
		more: { omni: upstreamEntry(diffusion.url, { dialect: "vllm" }) },
		config: {
			models: { entries: { chroma: { upstreams: [{ upstream: "omni", weight: 1, order: 0 }] } } },
		},
	});
});
afterEach(() => {
	images.reset();
	diffusion.reset();
});
afterAll(async () => {
	await images.stop();
	await diffusion.stop();
});

const generate = (body: object, headers?: Record<string, string>) =>
	images.post("/image/generate", { model: "z-image-turbo", prompt: "a red kite", ...body }, headers);

interface Generated {
	readonly id: string;
	readonly images: readonly string[];
	readonly request: object;
	readonly timing: Readonly<Record<string, number>>;
}

test("JSON with a WebP of the size that was asked for, its times and the request", async () => {
	const response = await generate({ width: 768, height: 512 });
	expect(response.status).toBe(200);
	expect(response.headers.get("x-service-is-blurred")).toBe("false");
	expect(response.headers.get("x-service-model-id")).toBe("z-image-turbo");
	const { id, images: pictures, request, timing } = (await response.json()) as Generated;
	expect(id).toStartWith("generate-image-");
	expect(request).toEqual({ model: "z-image-turbo", prompt: "a red kite", width: 768, height: 512 });
	expect(Object.keys(timing).sort()).toEqual(["inferenceDuration", "inferencePreprocessingTime", "inferenceQueueTime", "total"]);
	expect(await decoded(Buffer.from(pictures[0] ?? "", "base64"))).toMatchObject({ format: "webp", width: 768, height: 512 });
	const [sent] = images.upstream.requests;
	expect(sent?.path).toBe("/v1/images/generations");
	expect(sent?.body).toEqual({ model: "z-turbo", prompt: "a red kite", size: "768x512", response_format: "b64_json" });
	expect(await images.lastPrice()).toBe(0.01);
});

test("the picture itself with return_binary", async () => {
	const response = await generate({ return_binary: true, format: "jpeg" });
	expect(response.headers.get("content-type")).toBe("image/jpeg");
	expect(await decoded(response)).toMatchObject({ format: "jpeg", width: 1024, height: 1024 });
});

test("variants are asked for until all are there, and each is charged", async () => {
	images.upstream.always({ pictures: [await plainPicture("512x512")] });
	const response = await generate({ variants: 3, width: 512, height: 512 });
	const { images: pictures } = (await response.json()) as Generated;
	expect(pictures).toHaveLength(3);
	expect(images.upstream.requests.map(({ body }) => body.n)).toEqual([3, 2, undefined]);
	expect(await images.lastPrice()).toBe(0.03);
});

test("tiers: ratio, resolution and quality, with their size and price", async () => {
	const response = await generate({
		model: "gpt-image-2",
		aspect_ratio: "16:9",
		resolution: "2K",
		quality: "low",
		return_binary: true,
	});
	expect(await decoded(response)).toMatchObject({ width: 2736, height: 1536 });
	expect(images.upstream.requests[0]?.body).toMatchObject({ size: "2736x1536", quality: "low" });
	expect(await images.lastPrice()).toBe(0.03);
});

test("a style stands in the prompt; what only servers of diffusion take goes to those alone", async () => {
	const more = { seed: 7, steps: 4, cfg_scale: 1.5, negative_prompt: "rain", style_preset: "Watercolor" };
	await generate(more);
	expect(images.upstream.requests[0]?.body).toEqual({
		model: "z-turbo",
		prompt: "a red kite, in the style: Watercolor",
		size: "1024x1024",
		response_format: "b64_json",
	});
	await generate({ ...more, model: "chroma" });
	expect(diffusion.requests[0]?.body).toMatchObject({
		seed: 7,
		num_inference_steps: 4,
		guidance_scale: 1.5,
		negative_prompt: "rain",
	});
});

test("large answers are packed where the caller takes that", async () => {
	const noise = await plainPicture("1280x1280");
	images.upstream.next({ pictures: [noise] });
	const response = await generate({ width: 1280, height: 1280, format: "png", variants: 4 }, { "accept-encoding": "gzip" });
	const { images: pictures } = (await response.json()) as Generated;
	expect(pictures).toHaveLength(4);
	expect(await decoded(Buffer.from(pictures[3] ?? "", "base64"))).toMatchObject({ format: "png", width: 1280 });
});

test("a blurred picture is told", async () => {
	images.engine.scores = 0.99;
	expect((await generate({})).headers.get("x-service-is-blurred")).toBe("true");
	expect((await generate({ safe_mode: false })).headers.get("x-service-is-blurred")).toBe("false");
});

test.each([
	["no model", { model: undefined }, "model"],
	["no prompt", { prompt: undefined }, "prompt"],
	["a prompt of 7501 characters", { prompt: "x".repeat(7_501) }, "prompt"],
	["a side of 1288", { width: 1_288 }, "width"],
	["a side that is no multiple", { height: 1_001 }, "height"],
	["a ratio where sizes are in pixels", { aspect_ratio: "1:1" }, "aspect_ratio"],
	["a resolution where sizes are in pixels", { resolution: "1K" }, "resolution"],
	["pixels where there are ratios", { model: "gpt-image-2", width: 1024 }, "width"],
	["auto where nothing is to follow", { model: "gpt-image-2", aspect_ratio: "auto" }, "aspect_ratio"],
	["a resolution that the model lacks", { model: "gpt-image-2", resolution: "8K" }, "resolution"],
	["more steps than the model has", { steps: 9 }, "steps"],
	["a seed out of range", { seed: 1_000_000_000 }, "seed"],
	["five variants", { variants: 5 }, "variants"],
	["variants of a bare picture", { variants: 2, return_binary: true }, "variants"],
	["an unknown style", { style_preset: "Baroque" }, "style_preset"],
	["a search", { enable_web_search: true }, "enable_web_search"],
	["an unknown key", { n: 1 }, "n"],
])("400 for %s", async (_, body, field) => {
	const response = await generate(body);
	expect(response.status).toBe(400);
	const { code, issues } = (await response.json()) as { code: string; issues: { path: unknown[] }[] };
	expect([code, issues[0]?.path]).toEqual(["INVALID_REQUEST", [field]]);
	expect(images.upstream.requests).toHaveLength(0);
});

test("400 for a model of another type, 404 for an unknown one, 503 for one that nothing serves, 415, 401, 402", async () => {
	expect(await (await generate({ model: "qwen-edit" })).json()).toMatchObject({ code: "INVALID_MODEL" });
	expect((await generate({ model: "nothing" })).status).toBe(404);
	expect((await images.form("/image/generate", [["prompt", "x"]])).status).toBe(415);
	const post = (key: string) =>
		fetch(`${images.gate.url}/api/v1/image/generate`, {
			method: "POST",
			headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
			body: JSON.stringify({ model: "z-image-turbo", prompt: "x" }),
		});
	expect((await post("nobody")).status).toBe(401);
	expect((await post((await images.gate.newKey({ creditUsd: "0.009" })).secret)).status).toBe(402);
});

test("500 where the server fails, 504 where it is silent: nothing is charged", async () => {
	const before = (await images.gate.posts()).length;
	images.upstream.next({ status: 500 });
	expect(await (await generate({})).json()).toMatchObject({ code: "INFERENCE_FAILED" });
	expect((await images.gate.posts()).length).toBe(before);
});
