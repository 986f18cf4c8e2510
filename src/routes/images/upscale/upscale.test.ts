import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import {
	base64,
	decoded,
	type ImageGateway,
	plainPicture,
	sampleImage,
	startImageGateway,
} from "../../../../test/support/image-gateway.ts";

let images: ImageGateway;
let picture: Uint8Array;

beforeAll(async () => {
	images = await startImageGateway();
	picture = await plainPicture("400x300", { r: 30, g: 60, b: 90 }, "jpeg");
});
afterEach(() => images.reset());
afterAll(() => images.stop());

const upscale = (body: object) => images.post("/image/upscale", { image: base64(picture), ...body });

test("twice the sides by default, as PNG, on this machine", async () => {
	const response = await upscale({});
	expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/png"]);
	expect(response.headers.get("x-service-model-id")).toBe("upscaler");
	expect(response.headers.get("x-service-model-router")).toBe("embedded");
	const { format, width, height, middle } = await decoded(response);
	expect({ format, width, height }).toEqual({ format: "png", width: 800, height: 600 });
	for (const [index, value] of [30, 60, 90].entries()) expect(Math.abs((middle[index] ?? 0) - value)).toBeLessThanOrEqual(2);
	expect(await images.lastPrice()).toBe(0.02);
});

test("four times the sides costs more; a form, and fields that are not known", async () => {
	const response = await images.form("/image/upscale", [
		["image", picture],
		["scale", "4"],
		["creativity", "9"],
		["enhance", "true"],
		["whatever", "x"],
	]);
	expect(await decoded(response)).toMatchObject({ width: 1600, height: 1200 });
	expect(await images.lastPrice()).toBe(0.08);
	expect((await upscale({ creativity: null, replication: 0.3, enhancePrompt: "sharp" })).status).toBe(200);
});

test("the factor is less where the result would have over 4096 x 4096 pixels; its price stays", async () => {
	const response = await upscale({ image: base64(await plainPicture("2000x1600", { r: 1, g: 2, b: 3 }, "jpeg")), scale: 4 });
	const { width, height } = await decoded(response);
	expect(width * height).toBeLessThanOrEqual(16_777_216);
	expect(width * height).toBeGreaterThan(16_500_000);
	expect(width / height).toBeCloseTo(1.25, 2);
	expect(await images.lastPrice()).toBe(0.08);
});

test.each([
	["no picture", { image: undefined }, "INVALID_REQUEST"],
	["three times", { scale: 3 }, "INVALID_REQUEST"],
	["a scale in words", { scale: "big" }, "INVALID_REQUEST"],
	["an address", { image: "http://site.example/a.png" }, "INVALID_REQUEST"],
	["no picture in base64", { image: "aGVsbG8=" }, "CORRUPTED_IMAGE"],
	["a small picture", { image: base64(sampleImage("alpha.png")) }, "IMAGE_TOO_SMALL"],
])("400 for %s", async (_, body, code) => {
	const response = await upscale(body);
	expect(response.status).toBe(400);
	expect(await response.json()).toMatchObject({ code });
});

test("401, 402, 413, 415 and 422: nothing is charged", async () => {
	const url = `${images.gate.url}/api/v1/image/upscale`;
	const json = { "content-type": "application/json" };
	expect((await fetch(url, { method: "POST", headers: json, body: "{}" })).status).toBe(401);
	const poor = await images.gate.newKey({ creditUsd: "0.01" });
	const headers = { ...json, authorization: `Bearer ${poor.secret}` };
	expect((await fetch(url, { method: "POST", headers, body: JSON.stringify({ image: base64(picture) }) })).status).toBe(402);
	expect((await images.form("/image/upscale", [["image", new Uint8Array(26_214_400)]])).status).toBe(413);
	expect((await images.gate.call("POST", "/image/upscale", "x", { "content-type": "image/png" })).status).toBe(415);
	const bomb = await upscale({ image: base64(sampleImage("decompression_bomb_16000x16000.png")) });
	expect([bomb.status, ((await bomb.json()) as { code: string }).code]).toEqual([422, "IMAGE_TOO_LARGE"]);
});

test("a server that is configured for it does it instead; 500 where it fails", async () => {
	const other = await startImageGateway({
		config: { models: { entries: { upscaler: { upstreams: [{ upstream: "painter", model: "esrgan", weight: 1, order: 0 }] } } } },
	});
	try {
		const response = await other.post("/image/upscale", { image: base64(picture), scale: 2 });
		expect(response.headers.get("x-service-model-router")).toBe("painter");
		expect(await decoded(response)).toMatchObject({ format: "png", width: 800, height: 600 });
		expect(other.upstream.requests[0]?.body).toMatchObject({ model: "esrgan", size: "800x600" });
		other.upstream.next({ status: 500 });
		const failed = await other.post("/image/upscale", { image: base64(picture) });
		expect([failed.status, ((await failed.json()) as { code: string }).code]).toEqual([500, "UPSCALE_FAILED"]);
	} finally {
		await other.stop();
	}
});
