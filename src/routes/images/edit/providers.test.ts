/** Edits through the whole gateway by providers and by ComfyUI: pixels, money, failover, refusals, leaving, time. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import sharp from "sharp";
import { base64, decoded, type ImageGateway, startImageGateway } from "../../../../test/support/image-gateway.ts";
import { plainPicture } from "../../../../test/support/plain-picture.ts";
import { IMAGE_SCRIPTS } from "../../../../test/support/providers/image-scripts.ts";
import { type ImageProviderServer, startImageProviderServer } from "../../../../test/support/providers/image-server.ts";
import { upstreamEntry } from "../../../../test/support/running-gateway.ts";
import { type ScriptedComfy, startScriptedComfy } from "../../../../test/support/scripted-comfyui.ts";

let providers: ImageProviderServer;
let comfy: ScriptedComfy;
let images: ImageGateway;
const folder = mkdtempSync(join(tmpdir(), "turnpike-comfy-"));
const BLUE = { r: 20, g: 40, b: 200 };
const GRAPH = {
	6: { class_type: "CLIPTextEncode", inputs: { text: "" } },
	10: { class_type: "LoadImage", inputs: { image: "example.png" } },
	9: { class_type: "SaveImage", inputs: {} },
};
let red: Uint8Array;

const upstreams = (name: string) => {
	const script = IMAGE_SCRIPTS.find(({ provider }) => provider === name);
	return script === undefined ? {} : { [name]: providers.upstream(script) };
};
const target = (upstream: string, more: object) => ({ upstream, weight: 1, order: 0, ...more });

beforeAll(async () => {
	red = await plainPicture("400x300", { r: 200, g: 10, b: 10 });
	const blue = await plainPicture("800x600", BLUE);
	providers = startImageProviderServer(blue);
	comfy = startScriptedComfy(blue);
	const workflow = join(folder, "edit.json");
	writeFileSync(workflow, JSON.stringify(GRAPH));
	const image = { usd: 0.5, aspectRatios: ["auto", "1:1", "4:3"] };
	images = await startImageGateway({
		more: { ...upstreams("fal"), ...upstreams("google"), comfy: upstreamEntry(comfy.url, { discover: false }) },
		config: {
			timeouts: { imageMs: 4_000 },
			models: {
				entries: {
					"fal-edit": { type: "inpaint", image, upstreams: [target("fal", { model: "fal-ai/flux-pro/v1/fill" })] },
					"two-edit": {
						type: "inpaint",
						image,
						upstreams: [
							target("google", { model: "gemini-3-pro-image-preview" }),
							target("painter", { model: "painter", order: 1 }),
						],
					},
					"comfy-edit": {
						type: "inpaint",
						image,
						upstreams: [
							target("comfy", {
								model: "edit",
								protocol: "comfyui",
								workflow,
								parameters: { "6.text": "{prompt}", "10.image": "{image}" },
							}),
						],
					},
					"bria-bg-remover": { upstreams: [target("fal", { model: "fal-ai/birefnet/v2" })] },
					upscaler: { upstreams: [target("fal", { model: "fal-ai/esrgan", parameters: { scale: "{factor}" } })] },
				},
			},
		} as never,
	});
});
beforeEach(() => {
	providers.reset();
	comfy.reset();
	images.reset();
});
afterAll(async () => {
	await images.stop();
	await Promise.all([providers.stop(), comfy.stop()]);
	rmSync(folder, { recursive: true, force: true });
});

const edit = (model: string, more: object = {}) =>
	images.post("/image/edit", { image: base64(red), prompt: "blue", model, ...more });
const count = async () => (await images.gate.posts()).length;

describe("an edit by a provider", () => {
	test("answers its picture, at the price, under its name", async () => {
		const answer = await edit("fal-edit");
		expect(answer.status).toBe(200);
		expect(answer.headers.get("x-service-model-router")).toBe("fal");
		expect(await decoded(answer)).toMatchObject({ format: "png", width: 800, height: 600, middle: [20, 40, 200, 255] });
		expect(await images.lastPrice()).toBe(0.5);
		expect(providers.complaints).toEqual([]);
		const [request] = providers.understood;
		expect(await decoded(request?.pictures[0] ?? new Uint8Array())).toMatchObject({
			width: 400,
			height: 300,
			middle: [200, 10, 10, 255],
		});
	});

	test("has the mask in two colours: white is what was transparent", async () => {
		const hole = { create: { width: 400, height: 300, channels: 4, background: { r: 90, g: 90, b: 90, alpha: 1 } } } as const;
		const transparent = { create: { width: 200, height: 300, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 1 } } } as const;
		const cut = await sharp(transparent).png().toBuffer();
		const mask = await sharp(hole)
			.composite([{ input: cut, left: 0, top: 0, blend: "dest-out" }])
			.png()
			.toBuffer();
		const form = [
			["image", red],
			["mask", mask],
			["prompt", "blue"],
			["model", "fal-edit"],
		] as const;
		expect((await images.form("/images/edits", form)).status).toBe(200);
		const sent = sharp(providers.understood[0]?.mask ?? new Uint8Array());
		const { data, info } = await sent.removeAlpha().raw().toBuffer({ resolveWithObject: true });
		const at = (x: number) => [...data.subarray((150 * info.width + x) * info.channels).subarray(0, 3)];
		expect([info.width, info.height, at(50), at(350)]).toEqual([400, 300, [255, 255, 255], [0, 0, 0]]);
	});

	test("with a mask that masks nothing gets 400, and nothing is sent", async () => {
		const form = [
			["image", red],
			["mask", await plainPicture("400x300", { r: 0, g: 0, b: 0 })],
			["prompt", "blue"],
			["model", "fal-edit"],
		] as const;
		const answer = await images.form("/images/edits", form);
		expect(answer.status).toBe(400);
		expect(await answer.json()).toMatchObject({ error: { param: "mask", code: "INVALID_REQUEST" } });
		expect(providers.paths).toEqual([]);
	});

	test("that refuses the content gets 422 and costs nothing", async () => {
		const before = await count();
		providers.behave({ refuses: true });
		const answer = await edit("fal-edit");
		expect(answer.status).toBe(422);
		expect(answer.headers.get("x-service-is-content-violation")).toBe("true");
		expect(await answer.json()).toMatchObject({ code: "CONTENT_POLICY_VIOLATION" });
		expect(await count()).toBe(before);
	});

	test("with more pictures than its model takes gets 400", async () => {
		const form = [
			["images", red],
			["images", red],
			["prompt", "blue"],
			["modelId", "fal-edit"],
		] as const;
		const answer = await images.form("/image/multi-edit", form);
		expect(answer.status).toBe(400);
		expect(await answer.text()).toContain("takes 1 picture, not 2");
	});

	test("goes to the next upstream where it fails, and where it takes no mask", async () => {
		providers.behave({ answer: () => new Response(null, { status: 500 }) });
		const answer = await edit("two-edit");
		expect([answer.status, answer.headers.get("x-service-model-router"), answer.headers.get("x-retry-count")]).toEqual([
			200,
			"painter",
			"1",
		]);
		providers.reset();
		const form = [
			["image", red],
			["mask", red],
			["prompt", "blue"],
			["model", "two-edit"],
		] as const;
		const masked = await images.form("/images/edits", form);
		expect([masked.status, masked.headers.get("x-service-model-router")]).toEqual([200, "painter"]);
		expect(providers.paths).toEqual([]);
	});

	test("that is too slow gets 504, and the connection is closed", async () => {
		providers.behave({ hangs: true });
		const answer = await edit("fal-edit");
		expect(answer.status).toBe(504);
		expect(await answer.json()).toMatchObject({ code: "REQUEST_TIMEOUT", error: "The picture was not made in time" });
		await providers.left();
	});

	test("that its caller leaves is paid, and ended", async () => {
		const before = await count();
		providers.behave({ hangs: true });
		const leaving = new AbortController();
		const work = fetch(`${images.gate.url}/api/v1/image/edit`, {
			method: "POST",
			signal: leaving.signal,
			headers: { authorization: `Bearer ${images.gate.key}`, "content-type": "application/json" },
			body: JSON.stringify({ image: base64(red), prompt: "blue", model: "fal-edit" }),
		}).catch(() => null);
		while (providers.understood.length === 0) await Bun.sleep(5);
		leaving.abort();
		await Promise.all([work, providers.left()]);
		while ((await count()) === before) await Bun.sleep(5);
		expect((await images.gate.posts()).at(-1)).toMatchObject({ status: 499, price: 500_000_000 });
	});
});

describe("a named model of a provider", () => {
	test("enlarges by the factor, to exactly the size", async () => {
		const answer = await images.form("/image/upscale", [
			["image", red],
			["scale", "2"],
		]);
		expect(await decoded(answer)).toMatchObject({ width: 800, height: 600, middle: [20, 40, 200, 255] });
		expect(providers.understood[0]?.more).toMatchObject({ scale: 2 });
		expect(await images.lastPrice()).toBe(0.02);
	});

	test("takes the background away", async () => {
		const answer = await images.form("/image/background-remove", [["image", red]]);
		expect(answer.status).toBe(200);
		expect(providers.understood[0]?.prompt).toBeUndefined();
		expect(providers.understood[0]?.pictures.length).toBe(1);
	});
});

describe("an edit by ComfyUI", () => {
	test("answers what its workflow stored, at the price", async () => {
		const answer = await edit("comfy-edit", { output_format: "webp" });
		expect(await decoded(answer)).toMatchObject({ format: "webp", width: 800, height: 600 });
		expect(comfy.jobs[0]?.workflow[6]?.inputs.text).toBe("blue");
		expect([...comfy.uploads.values()].length).toBe(1);
		expect(await images.lastPrice()).toBe(0.5);
	});

	test("that is too slow is stopped there, and gets 504", async () => {
		comfy.behave({ stays: "running" });
		expect((await edit("comfy-edit")).status).toBe(504);
		await comfy.hasStopped();
		expect(comfy.stopped).toEqual([{ how: "interrupted", id: comfy.jobs[0]?.id ?? "" }]);
	});
});
