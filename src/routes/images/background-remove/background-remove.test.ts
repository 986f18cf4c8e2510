import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import sharp from "sharp";
import { base64, decoded, type ImageGateway, plainPicture, startImageGateway } from "../../../../test/support/image-gateway.ts";
import { type NamedHosts, startNamedHosts } from "../../../../test/support/named-hosts.ts";
import { startGateway } from "../../../../test/support/running-gateway.ts";

let images: ImageGateway;
let hosts: NamedHosts;
let picture: Uint8Array;
/** What a server gives: nothing but transparency. */
let cutOut: Uint8Array;

beforeAll(async () => {
	picture = await plainPicture("400x300");
	cutOut = await sharp({ create: { width: 400, height: 300, channels: 4, background: { r: 9, g: 9, b: 9, alpha: 0 } } })
		.png()
		.toBuffer();
	hosts = startNamedHosts({ "/a.png": picture });
	images = await startImageGateway({ fetchPublic: hosts.fetch });
});
afterEach(() => images.reset());
afterAll(async () => {
	await images.stop();
	await hosts.stop();
});

const remove = (body: object) => images.post("/image/background-remove", body);

test("a PNG with transparency, of the size that came", async () => {
	images.upstream.always({ pictures: [cutOut] });
	for (const body of [{ image: base64(picture) }, { image_url: "http://site.example/a.png" }]) {
		const response = await remove(body);
		expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/png"]);
		const { format, width, height, hasAlpha, middle } = await decoded(response);
		expect({ format, width, height, hasAlpha, alpha: middle[3] }).toEqual({
			format: "png",
			width: 400,
			height: 300,
			hasAlpha: true,
			alpha: 0,
		});
	}
	expect((await images.form("/image/background-remove", [["image", picture]])).status).toBe(200);
	const { body } = images.upstream.requests[0] ?? {};
	expect(body).toMatchObject({ model: "bria-bg-remover", background: "transparent", output_format: "png" });
	expect(await images.lastPrice()).toBe(0.03);
});

test.each([
	["neither picture nor address", {}, "image"],
	["model", { image_url: "http://site.example/a.png", model: "x" }, "model"],
	["an address of another kind", { image_url: "ftp://site.example/a.png" }, "image_url"],
	["an address in the place of base64", { image: "http://site.example/a.png" }, "image"],
	["a private address", { image_url: "http://inside.example/a.png" }, "image_url"],
])("400 for %s", async (_, body, field) => {
	const response = await remove(body);
	expect(response.status).toBe(400);
	expect(await response.json()).toMatchObject({ code: "INVALID_REQUEST", issues: [{ path: [field] }] });
});

test("401, 402, 413 and 415; 500 where the server fails", async () => {
	const url = `${images.gate.url}/api/v1/image/background-remove`;
	const json = { "content-type": "application/json" };
	expect((await fetch(url, { method: "POST", headers: json, body: "{}" })).status).toBe(401);
	const poor = await images.gate.newKey({ creditUsd: "0.01" });
	const headers = { ...json, authorization: `Bearer ${poor.secret}` };
	expect((await fetch(url, { method: "POST", headers, body: JSON.stringify({ image: base64(picture) }) })).status).toBe(402);
	expect((await images.form("/image/background-remove", [["image", new Uint8Array(26_214_400)]])).status).toBe(413);
	expect((await images.gate.call("POST", "/image/background-remove", "x", { "content-type": "image/png" })).status).toBe(415);
	images.upstream.next({ status: 500 });
	expect(await (await remove({ image: base64(picture) })).json()).toMatchObject({ code: "IMAGE_EDIT_ERROR" });
});

test("503 without a server, with the line that brings one; every image route says where pictures cannot be worked on", async () => {
	const bare = await startGateway();
	try {
		const response = await bare.call("POST", "/image/background-remove", { image: base64(picture) });
		expect(response.status).toBe(503);
		expect(((await response.json()) as { error: string }).error).toContain('models.entries["bria-bg-remover"].upstreams');
		const made = await bare.call("POST", "/images/generations", { prompt: "x", model: "dall-e-3" });
		expect(made.status).toBe(503);
		expect(JSON.stringify(await made.json())).toContain("z-image-turbo");
		for (const [path, body] of [
			["/image/generate", { model: "qwen-image", prompt: "x" }],
			["/image/upscale", { image: base64(picture) }],
			["/image/edit", { image: base64(picture), prompt: "invert", model: "local-edit" }],
		] as const) {
			const refused = await bare.call("POST", path, body);
			expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([503, "MODEL_OFFLINE"]);
		}
	} finally {
		await bare.stop();
	}
});
