import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { base64, decoded, type ImageGateway, plainPicture, startImageGateway } from "../../../../test/support/image-gateway.ts";
import { type NamedHosts, startNamedHosts } from "../../../../test/support/named-hosts.ts";

let images: ImageGateway;
let hosts: NamedHosts;
let base: Uint8Array;
let layer: Uint8Array;
let mask: Uint8Array;

beforeAll(async () => {
	base = await plainPicture("900x300", { r: 200, g: 10, b: 10 });
	layer = await plainPicture("400x400", { r: 10, g: 200, b: 10 });
	mask = await plainPicture("500x500", { r: 10, g: 10, b: 200 });
	hosts = startNamedHosts({ "/layer.png": layer, "/huge.png": new Uint8Array(26_214_400) });
	images = await startImageGateway({ fetchPublic: hosts.fetch });
});
afterEach(() => images.reset());
afterAll(async () => {
	await images.stop();
	await hosts.stop();
});

const edit = (body: object) =>
	images.post("/image/multi-edit", { prompt: "put it together", images: [base, layer, mask].map(base64), ...body });

/** Width and colour in the middle of what the server was sent, in its order. */
async function sent(): Promise<(readonly [field: string, width: number, middle: readonly number[]])[]> {
	const files = images.upstream.requests.at(-1)?.files ?? [];
	return Promise.all(
		files.map(async ({ field, bytes }) => {
			const { width, middle } = await decoded(bytes);
			return [field, width, middle.slice(0, 3)] as const;
		}),
	);
}

test("base, layers and masks go on in their order; the ratio is that of the first", async () => {
	const response = await edit({});
	expect([response.status, response.headers.get("x-service-model-id")]).toEqual([200, "firered-image-edit"]);
	expect(await sent()).toEqual([
		["image[]", 900, [200, 10, 10]],
		["image[]", 400, [10, 200, 10]],
		["image[]", 500, [10, 10, 200]],
	]);
	expect(images.upstream.requests[0]?.body.size).toBe("1568x672");
	expect(await decoded(response)).toMatchObject({ width: 1568, height: 672, format: "png" });
	expect(await images.lastPrice()).toBe(0.04);
});

test("a form with one to three files, where unknown fields are passed over", async () => {
	const response = await images.form("/image/multi-edit", [
		["images", base],
		["images", layer],
		["prompt", "put it together"],
		["modelId", "gpt-image-2-edit"],
		["quality", "low"],
		["resolution", "2K"],
		["model", "ignored"],
	]);
	expect([response.status, response.headers.get("content-type")]).toEqual([200, "image/jpeg"]);
	expect((await sent()).map(([, width]) => width)).toEqual([900, 400]);
	expect(await decoded(response)).toMatchObject({ width: 3136, height: 1344, format: "jpeg" });
	expect(await images.lastPrice()).toBe(0.04);
});

test("a picture at an address is read, through the guard", async () => {
	const response = await edit({ images: [base64(base), "http://site.example/layer.png"] });
	expect(response.status).toBe(200);
	expect((await sent()).map(([, width]) => width)).toEqual([900, 400]);
	expect(hosts.requests).toContain("site.example/layer.png");
});

test("each further picture costs where the model says so", async () => {
	expect((await edit({ modelId: "qwen-image-3-edit" })).status).toBe(200);
	expect(await images.lastPrice()).toBe(0.04 + 3 * 0.00345);
});

test("layers are put together on this machine", async () => {
	const response = await edit({
		modelId: "local-edit",
		images: [base64(base), base64(layer)],
		prompt: "overlay image 2 at center",
	});
	expect(response.status).toBe(200);
	expect(await decoded(response)).toMatchObject({ width: 900, height: 300, middle: [10, 200, 10, 255] });
	expect(images.upstream.requests).toHaveLength(0);
});
