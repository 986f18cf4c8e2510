import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import {
	base64,
	type ImageGateway,
	plainPicture,
	sampleImage,
	startImageGateway,
} from "../../../../test/support/image-gateway.ts";
import { type NamedHosts, startNamedHosts } from "../../../../test/support/named-hosts.ts";

let images: ImageGateway;
let hosts: NamedHosts;
let picture: string;

beforeAll(async () => {
	hosts = startNamedHosts({});
	images = await startImageGateway({ fetchPublic: hosts.fetch });
	picture = base64(await plainPicture("300x300"));
});
afterEach(() => images.reset());
afterAll(async () => {
	await images.stop();
	await hosts.stop();
});

interface Refusal {
	readonly error: string;
	readonly code: string;
	readonly issues?: readonly { readonly path: readonly unknown[]; readonly code: string; readonly message: string }[];
}

async function refusalOf(response: Response, status = 400): Promise<Refusal> {
	expect(response.status).toBe(status);
	return (await response.json()) as Refusal;
}

const edit = (body: object) => images.post("/image/edit", { image: picture, prompt: "make it green", ...body });

test.each([
	["no picture", { image: undefined }, "image"],
	["no prompt", { prompt: undefined }, "prompt"],
	["an empty prompt", { prompt: "" }, "prompt"],
	["a prompt of 32769 characters", { prompt: "a".repeat(32_769), model: "nano-banana-pro-edit" }, "prompt"],
	["a prompt over the model's limit", { prompt: "a".repeat(5_001) }, "prompt"],
	["an unknown ratio", { aspect_ratio: "5:4" }, "aspect_ratio"],
	["a ratio that the model lacks", { model: "gpt-image-1-5-edit", aspect_ratio: "16:9" }, "aspect_ratio"],
	["a ratio where there is only auto", { model: "wan-2-7-pro-edit", aspect_ratio: "1:1" }, "aspect_ratio"],
	["an empty resolution", { resolution: "" }, "resolution"],
	["a resolution of 11 characters", { resolution: "1K2K3K4K5K6" }, "resolution"],
	["a resolution that the model lacks", { model: "wan-2-7-pro-edit", resolution: "4K" }, "resolution"],
	["2K where there are no tiers", { resolution: "2K" }, "resolution"],
	["an unknown quality", { quality: "best" }, "quality"],
	["an unknown format", { output_format: "gif" }, "output_format"],
	["safe mode in words", { safe_mode: "no" }, "safe_mode"],
	["a model without a name", { model: "" }, "model"],
	["a modelId beside another model", { modelId: "gpt-image-2-edit", model: "own-edit" }, "modelId"],
	["a modelId that is none", { modelId: "qwen-9" }, "modelId"],
	["a modelId of another type", { modelId: "tts-kokoro" }, "modelId"],
	["a picture that is an object", { image: { url: "x" } }, "image"],
])("%s is refused, with the field and its issue", async (_, body, field) => {
	const { error, code, issues } = await refusalOf(await edit(body));
	expect(code).toBe("INVALID_REQUEST");
	expect(error).toStartWith(`${field}: `);
	expect(issues?.[0]?.path).toEqual([field]);
	expect(images.upstream.requests).toHaveLength(0);
});

test("what a model has is named", async () => {
	const { issues } = await refusalOf(await edit({ model: "wan-2-7-pro-edit", resolution: "4K" }));
	expect(issues?.[0]).toMatchObject({ code: "not_offered", message: expect.stringContaining("1K, 2K") });
});

test("an unknown key is named, in JSON and in a form", async () => {
	expect((await refusalOf(await edit({ strength: 1 }))).error).toContain("Unrecognized key(s) in object: 'strength'");
	const form = await images.form("/image/edit", [
		["image", picture],
		["prompt", "x"],
		["strength", "1"],
	]);
	expect((await refusalOf(form)).error).toContain("Unrecognized key(s) in object: 'strength'");
});

test("a model of another type", async () => {
	expect((await refusalOf(await edit({ model: "z-image-turbo" }))).code).toBe("INVALID_MODEL");
});

test.each([
	["no base64", "this is no picture"],
	["base64 of no picture", base64(new TextEncoder().encode("no picture at all"))],
	["a data: URL without base64", "data:image/svg+xml,<svg/>"],
	["a picture that is cut off", base64(sampleImage("truncated.jpg"))],
])("%s is no picture", async (_, image) => {
	for (const model of ["firered-image-edit", "local-edit"]) {
		const { code, issues } = await refusalOf(await edit({ image, model, prompt: "invert" }));
		expect(code).toBe("CORRUPTED_IMAGE");
		expect(issues?.[0]?.path).toEqual(["image"]);
	}
	expect(images.upstream.requests).toHaveLength(0);
});

test("a picture of less than 65536 pixels", async () => {
	for (const image of [base64(await plainPicture("255x256")), base64(sampleImage("alpha.png"))])
		expect((await refusalOf(await edit({ image }))).code).toBe("IMAGE_TOO_SMALL");
});

test("words that local editing does not know: what it can do is told", async () => {
	const { code, error, issues } = await refusalOf(await edit({ model: "local-edit", prompt: "make the sky more dramatic" }));
	expect(code).toBe("INVALID_REQUEST");
	expect(error).toContain("resize");
	expect(issues?.[0]?.path).toEqual(["prompt"]);
});

test("what a server refuses is told in its words", async () => {
	images.upstream.next({ status: 400, raw: '{"error":{"message":"the mask has another size","code":"invalid_image"}}' });
	expect(await refusalOf(await edit({}))).toMatchObject({ code: "INVALID_REQUEST", error: "the mask has another size" });
});

test("malformed JSON", async () => {
	const response = await images.gate.call("POST", "/image/edit", '{"image": ');
	expect((await refusalOf(response)).code).toBe("INVALID_REQUEST");
});

test.each([
	["this machine", "http://127.0.0.1/a.png"],
	["this machine by IPv6", "http://[::1]/a.png"],
	["addresses of clouds", "http://169.254.169.254/latest/meta-data"],
	["a private network", "http://10.1.2.3/a.png"],
	["a decimal address", "http://2130706433/a.png"],
	["an octal address", "http://0177.0.0.1/a.png"],
	["IPv4 inside IPv6", "http://[::ffff:127.0.0.1]/a.png"],
	["a name that leads to a private address", "http://inside.example/a.png"],
	["a redirect to a private address", "http://redirects.example/a.png"],
	["a name that is not known", "http://nobody.example/a.png"],
	["a name that changes between check and connection", "http://changes.example/a.png"],
])("a picture's address that leads to %s is not read", async (_, image) => {
	const { code, error, issues } = await refusalOf(await edit({ image }));
	expect(code).toBe("INVALID_REQUEST");
	expect(error).toStartWith("image: ");
	expect(issues?.[0]).toMatchObject({ path: ["image"], code: expect.stringMatching(/^url_/) });
	expect(images.upstream.requests).toHaveLength(0);
});

test("nothing of what was refused was charged", async () => {
	expect((await images.gate.posts()).every(({ price }) => price === 0)).toBe(true);
	expect((await images.gate.audit()).ok).toBe(true);
});
