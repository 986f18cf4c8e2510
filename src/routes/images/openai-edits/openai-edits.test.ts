import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import sharp from "sharp";
import { decoded, type ImageGateway, plainPicture, startImageGateway } from "../../../../test/support/image-gateway.ts";

let images: ImageGateway;
let base: Uint8Array;
let other: Uint8Array;
let mask: Uint8Array;

beforeAll(async () => {
	images = await startImageGateway();
	base = await plainPicture("600x400", { r: 200, g: 10, b: 10 });
	other = await plainPicture("400x400", { r: 10, g: 200, b: 10 });
	mask = await sharp({ create: { width: 600, height: 400, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } } })
		.png()
		.toBuffer();
});
afterEach(() => images.reset());
afterAll(() => images.stop());

type Fields = readonly (readonly [string, string | Uint8Array])[];
const edit = (fields: Fields) => images.form("/images/edits", [["prompt", "make it green"], ...fields]);
const pictureOf = async (response: Response) => {
	const { data } = (await response.json()) as { data: { b64_json?: string; url?: string }[] };
	return Buffer.from(data[0]?.b64_json ?? "", "base64");
};

test("one picture: OpenAI's answer, PNG by default, at the model's price", async () => {
	const response = await edit([
		["image", base],
		["n", "1"],
	]);
	expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
	expect(response.headers.get("x-service-model-id")).toBe("firered-image-edit");
	expect(await decoded(await pictureOf(response))).toMatchObject({ format: "png", width: 1248, height: 832 });
	expect(await images.lastPrice()).toBe(0.04);
});

test("the mask goes as the mask, and is the second layer here", async () => {
	await edit([
		["image[]", base],
		["image[]", other],
		["mask", mask],
	]);
	expect(images.upstream.requests[0]?.files.map(({ field, name }) => [field, name])).toEqual([
		["image[]", "picture-0.png"],
		["mask", "mask-1.png"],
		["image[]", "picture-2.png"],
	]);
	const local = await images.form("/images/edits", [
		["image", base],
		["mask", other],
		["model", "local-edit"],
		["prompt", "overlay image 2 at center"],
	]);
	expect(await decoded(await pictureOf(local))).toMatchObject({ width: 600, height: 400, middle: [10, 200, 10, 255] });
});

test("size, quality, format and form of the answer are as asked", async () => {
	const response = await edit([
		["image", base],
		["model", "gpt-image-2-edit"],
		["size", "1024x1536"],
		["quality", "medium"],
		["output_format", "webp"],
		["response_format", "url"],
		["moderation", "low"],
		["background", "auto"],
		["input_fidelity", "high"],
		["user", "somebody"],
	]);
	expect(images.upstream.requests[0]?.body).toMatchObject({ size: "1024x1536", quality: "medium" });
	const { data } = (await response.json()) as { data: { url: string }[] };
	const [head, text = ""] = (data[0]?.url ?? "").split(",");
	expect(head).toBe("data:image/webp;base64");
	expect(await decoded(Buffer.from(text, "base64"))).toMatchObject({ format: "webp", width: 1024, height: 1536 });
	expect(images.engine.looked).toBe(0);
	expect(await images.lastPrice()).toBe(0.1);
});

test.each([
	["no picture", [], "image", "INVALID_REQUEST"],
	["two of n", [["n", "2"]], "n", "INVALID_REQUEST"],
	["an unknown size", [["size", "100x100"]], "size", "INVALID_REQUEST"],
	["a stream", [["stream", "true"]], "stream", "INVALID_REQUEST"],
	["safe_mode", [["safe_mode", "false"]], "safe_mode", "INVALID_REQUEST"],
	["a picture in a text", [["image", "aGVsbG8="]], "image", "INVALID_REQUEST"],
	["a model of another type", [["model", "z-image-turbo"]], "model", "INVALID_MODEL"],
] as const)("400 for %s, in OpenAI's form", async (name, fields, param, code) => {
	const file: Fields = name === "no picture" || name === "a picture in a text" ? [] : [["image", base]];
	const response = await edit([...file, ...fields]);
	expect(response.status).toBe(400);
	expect(await response.json()).toMatchObject({ error: { param, code, type: "invalid_request_error" }, code });
});

test("400 for four files", async () => {
	const response = await edit([
		["image[]", base],
		["image[]", base],
		["image[]", base],
		["mask", mask],
	]);
	expect(response.status).toBe(400);
	expect(await response.json()).toMatchObject({ issues: [{ code: "too_big", maximum: 3 }] });
});

test("400 for a mask that is no picture, told by its own name", async () => {
	const response = await edit([
		["image", base],
		["mask", new TextEncoder().encode("nothing")],
	]);
	expect(response.status).toBe(400);
	expect(await response.json()).toMatchObject({ error: { param: "mask" }, code: "CORRUPTED_IMAGE" });
});

test("404 for an unknown model, 415 for JSON, 500 with its own code where the server fails", async () => {
	expect(
		(
			await edit([
				["image", base],
				["model", "dall-e-9"],
			])
		).status,
	).toBe(404);
	expect((await images.post("/images/edits", { prompt: "x" })).status).toBe(415);
	images.upstream.next({ status: 500 });
	const response = await edit([["image", base]]);
	expect(await response.json()).toMatchObject({ error: { type: "server_error", code: "IMAGE_EDIT_ERROR" } });
	expect(response.status).toBe(500);
});
