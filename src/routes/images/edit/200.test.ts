import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import sharp from "sharp";
import {
	base64,
	decoded,
	type ImageGateway,
	PAINTED,
	plainPicture,
	sampleImage,
	startImageGateway,
} from "../../../../test/support/image-gateway.ts";

let images: ImageGateway;
/** 600 x 400, red. */
let red: string;

beforeAll(async () => {
	images = await startImageGateway();
	red = base64(await plainPicture("600x400", { r: 200, g: 10, b: 10 }));
});
afterEach(() => images.reset());
afterAll(() => images.stop());

const edit = (body: object) => images.post("/image/edit", { image: red, prompt: "make it green", ...body });

describe("by a server", () => {
	test("the picture comes as PNG in its own ratio, with the headers of what answered", async () => {
		const response = await edit({});
		expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/png"]);
		expect(response.headers.get("x-service-model-id")).toBe("firered-image-edit");
		expect(response.headers.get("x-service-model-name")).toBe("FireRed Edit");
		expect(response.headers.get("x-service-model-router")).toBe("painter");
		expect(response.headers.get("x-service-is-blurred")).toBe("false");
		expect(response.headers.get("x-service-is-content-violation")).toBe("false");
		expect(response.headers.get("x-service-balance-usd")).not.toBeNull();
		expect(response.headers.get("x-ratelimit-limit-requests")).toBe("1000");
		expect(await decoded(response)).toEqual({
			format: "png",
			width: 1248,
			height: 832,
			hasAlpha: false,
			middle: [PAINTED.r, PAINTED.g, PAINTED.b, 255],
		});
		expect(await images.lastPrice()).toBe(0.04);
	});

	test("it is sent a form: its own name of the model, the prompt, a size, and the picture as it can be read", async () => {
		await edit({});
		const [request] = images.upstream.requests;
		expect(request?.path).toBe("/v1/images/edits");
		expect(request?.headers.get("authorization")).toBe("Bearer up-secret-key");
		expect(request?.headers.get("x-request-id")).toHaveLength(32);
		expect(request?.body).toEqual({ model: "firered", prompt: "make it green", size: "1248x832", response_format: "b64_json" });
		const [file] = request?.files ?? [];
		expect([file?.field, file?.name, file?.type]).toEqual(["image", "picture-0.png", "image/png"]);
		expect(await decoded(file?.bytes ?? new Uint8Array(0))).toMatchObject({ format: "png", width: 600, height: 400 });
	});

	test.each([
		["image/jpeg", { output_format: "jpg" }, "jpeg"],
		["image/jpeg", { output_format: "jpeg" }, "jpeg"],
		["image/webp", { output_format: "webp" }, "webp"],
	])("%s where %j is asked for", async (type, body, format) => {
		const response = await edit(body);
		expect(response.headers.get("content-type")).toBe(type);
		expect((await decoded(response)).format).toBe(format);
	});

	test("a form with a file, and a file's type by its content", async () => {
		const file = await plainPicture("600x400", { r: 1, g: 2, b: 3 }, "webp");
		const response = await images.form("/image/edit", [
			["image", file],
			["prompt", "make it green"],
			["model", "gpt-image-2-edit"],
			["quality", "low"],
			["aspect_ratio", "1:1"],
			["safe_mode", "false"],
		]);
		expect(response.status).toBe(200);
		expect(await decoded(response)).toMatchObject({ width: 1024, height: 1024 });
		expect(images.engine.looked).toBe(0);
		expect(await images.lastPrice()).toBe(0.03);
	});

	test("a form with base64 or a data: URL in the place of the file, and a data: URL in JSON", async () => {
		const url = `data:image/png;base64,${red}`;
		expect(
			(
				await images.form("/image/edit", [
					["image", url],
					["prompt", "green"],
				])
			).status,
		).toBe(200);
		expect((await edit({ image: url })).status).toBe(200);
	});

	test("modelId names a model too, alone or beside the same model", async () => {
		expect((await edit({ modelId: "gpt-image-2-edit", quality: "low" })).headers.get("x-service-model-id")).toBe(
			"gpt-image-2-edit",
		);
		const both = await edit({ modelId: "own-edit", model: "own-edit" });
		expect(both.headers.get("x-service-model-id")).toBe("own-edit");
		expect(await images.lastPrice()).toBe(0.5);
	});
});

describe("sizes, formats by default, and prices", () => {
	test.each([
		["gpt-image-2-edit", {}, 1248, 832, "png", 0.36],
		["gpt-image-2-edit", { quality: "medium", resolution: "2K" }, 2512, 1680, "jpeg", 0.15],
		["gpt-image-2-edit", { quality: "low", aspect_ratio: "21:9", output_format: "png" }, 1568, 672, "png", 0.03],
		["nano-banana-pro-edit", { quality: "low" }, 1248, 832, "png", 0.18],
		["wan-2-7-pro-edit", {}, 1248, 832, "png", 0.094],
		["qwen-image-3-edit", {}, 1248, 832, "png", 0.04345],
	])("%s with %j", async (model, body, width, height, format, price) => {
		// Whatever the server makes: a square.
		images.upstream.next({ pictures: [await plainPicture("700x700")] });
		const response = await edit({ model, ...body });
		expect(await decoded(response)).toMatchObject({ width, height, format });
		expect(await images.lastPrice()).toBe(price);
	});

	test("without tiers the server's picture keeps its size, is cut to the ratio, and never enlarged", async () => {
		images.upstream.next({ pictures: [await plainPicture("500x500")] });
		expect(await decoded(await edit({ aspect_ratio: "16:9" }))).toMatchObject({ width: 500, height: 281 });
		images.upstream.next({ pictures: [await plainPicture("3000x2000")] });
		expect(await decoded(await edit({}))).toMatchObject({ width: 3000, height: 2000 });
	});

	test("a server that makes some sizes only is asked for the nearest of them", async () => {
		await edit({ model: "gpt-image-1-5-edit" });
		expect(images.upstream.requests[0]?.body.size).toBe("1536x1024");
	});

	test("1K is taken where the model has no tiers, and quality is ignored where it has none", async () => {
		expect((await edit({ resolution: "1K", quality: "low" })).status).toBe(200);
		expect(images.upstream.requests[0]?.body.quality).toBeUndefined();
	});

	test("the prompt may have 32768 characters where the model says so", async () => {
		expect((await edit({ model: "nano-banana-pro-edit", prompt: "😀".repeat(32_768) })).status).toBe(200);
	});
});

describe("on this machine", () => {
	test("local-edit does what the prompt says, for nothing, in the size that it gives", async () => {
		const response = await edit({ model: "local-edit", prompt: "resize to 300x200, then invert" });
		expect(response.status).toBe(200);
		expect(response.headers.get("x-service-model-router")).toBe("embedded");
		expect(await decoded(response)).toMatchObject({ format: "png", width: 300, height: 200, middle: [55, 245, 245, 255] });
		expect(images.upstream.requests).toHaveLength(0);
		expect(await images.lastPrice()).toBe(0);
	});

	test.each(["exif_orientation6.jpg", "cmyk.jpg", "rgb16.png", "plain.jpg"])("%s is read", async (name) => {
		const response = await edit({ model: "local-edit", prompt: "resize to 320x300", image: base64(sampleImage(name)) });
		expect(response.status).toBe(200);
		expect(await decoded(response)).toMatchObject({ format: "png", width: 320, height: 300 });
	});
});

test("a large picture in JSON is read out of the body itself, with the escapes of any writer of JSON", async () => {
	const noise = Buffer.alloc(1_400 * 1_400 * 3, "a picture that does not pack ");
	const large = await sharp(noise, { raw: { width: 1_400, height: 1_400, channels: 3 } })
		.png({ compressionLevel: 0 })
		.toBuffer();
	expect(large.length).toBeGreaterThan(5_000_000);
	const body = JSON.stringify({ model: "local-edit", prompt: "resize to 70x70", safe_mode: false, image: base64(large) });
	for (const text of [body, body.replaceAll("/", "\\/")]) {
		const response = await images.gate.call("POST", "/image/edit", text);
		expect(response.status).toBe(200);
		expect(await decoded(response)).toMatchObject({ width: 70, height: 70 });
	}
	const cut = body.replace(/[A-Za-z0-9]{8}"}$/, '!!!!"}');
	expect((await images.gate.call("POST", "/image/edit", cut)).status).toBe(400);
});

describe("safe mode", () => {
	test("a picture over the threshold goes out blurred, is told and charged", async () => {
		images.engine.scores = 0.9;
		const half = await plainPicture("600x400", { r: 250, g: 250, b: 250 });
		images.upstream.next({ pictures: [half] });
		const response = await edit({ output_format: "webp" });
		expect([response.status, response.headers.get("x-service-is-blurred")]).toEqual([200, "true"]);
		expect(await decoded(response)).toMatchObject({ format: "webp", width: 600, height: 400 });
		expect(await images.lastPrice()).toBe(0.04);
	});

	test("safe_mode: false looks at nothing", async () => {
		images.engine.scores = 0.9;
		images.engine.state = { state: "offline", text: "not needed" };
		const response = await edit({ safe_mode: false });
		expect([response.status, response.headers.get("x-service-is-blurred")]).toEqual([200, "false"]);
		expect(images.engine.looked).toBe(0);
	});

	test("while nothing can look at pictures no server is asked", async () => {
		images.engine.state = { state: "offline", text: "its model is being fetched, 40 %" };
		const response = await edit({});
		expect(response.status).toBe(503);
		expect(await response.json()).toMatchObject({ code: "MODEL_OFFLINE", error: expect.stringContaining("40 %") });
		expect([images.engine.prefetched, images.upstream.requests.length]).toEqual([1, 0]);
	});
});
