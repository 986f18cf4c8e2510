import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { decoded, type ImageGateway, startImageGateway } from "../../../../test/support/image-gateway.ts";

let images: ImageGateway;
beforeAll(async () => {
	images = await startImageGateway();
});
afterEach(() => images.reset());
afterAll(() => images.stop());

const generate = (body: object) => images.post("/images/generations", { prompt: "a red kite", ...body });
const pictureOf = async (response: Response) => {
	const { data, created } = (await response.json()) as { created: number; data: { b64_json: string }[] };
	expect(Number.isInteger(created)).toBe(true);
	return decoded(Buffer.from(data[0]?.b64_json ?? "", "base64"));
};

test("the default model makes a PNG of 1024x1024", async () => {
	const response = await generate({});
	expect([response.status, response.headers.get("x-service-model-id")]).toEqual([200, "z-image-turbo"]);
	expect(await pictureOf(response)).toMatchObject({ format: "png", width: 1024, height: 1024 });
	expect(await images.lastPrice()).toBe(0.01);
});

test("a name that is not known means the default model", async () => {
	expect(
		(await generate({ model: "dall-e-3", quality: "hd", style: "vivid", user: null, n: null })).headers.get("x-service-model-id"),
	).toBe("z-image-turbo");
});

test("a model with tiers costs its base price, and the size is what was asked for", async () => {
	const response = await generate({ model: "gpt-image-2", size: "1792x1024", output_format: "jpeg", quality: "low" });
	expect(await pictureOf(response)).toMatchObject({ format: "jpeg", width: 1792, height: 1024 });
	expect(await images.lastPrice()).toBe(0.26);
});

test("the other spelling of the path, and a data: URL", async () => {
	const response = await images.post("/image/generations", { prompt: "x", response_format: "url", moderation: "low" });
	const { data } = (await response.json()) as { data: { url: string }[] };
	expect(data[0]?.url).toStartWith("data:image/png;base64,");
	expect(images.engine.looked).toBe(0);
});

test.each([
	["no prompt", { prompt: undefined }, "prompt"],
	["a prompt of 1501 characters", { prompt: "x".repeat(1_501) }, "prompt"],
	["two pictures", { n: 2 }, "n"],
	["an unknown size", { size: "640x480" }, "size"],
	["safe_mode", { safe_mode: false }, "safe_mode"],
	["an unknown moderation", { moderation: "off" }, "moderation"],
	["a compression over 100", { output_compression: 101 }, "output_compression"],
])("400 for %s, in OpenAI's form", async (_, body, param) => {
	const response = await generate(body);
	expect(response.status).toBe(400);
	expect(await response.json()).toMatchObject({ error: { param, type: "invalid_request_error" }, code: "INVALID_REQUEST" });
});

test("400 for a model of another type, 401 without a key, 415 for a form", async () => {
	expect(await (await generate({ model: "qwen-edit" })).json()).toMatchObject({ code: "INVALID_MODEL" });
	const url = `${images.gate.url}/api/v1/images/generations`;
	expect((await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: "{}" })).status).toBe(401);
	expect((await images.form("/images/generations", [["prompt", "x"]])).status).toBe(415);
});
