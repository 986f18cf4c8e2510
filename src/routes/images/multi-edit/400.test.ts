import { afterAll, beforeAll, expect, test } from "bun:test";
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
let bytes: Uint8Array;
let picture: string;

beforeAll(async () => {
	hosts = startNamedHosts({ "/huge.png": new Uint8Array(26_214_400) });
	images = await startImageGateway({ fetchPublic: hosts.fetch });
	bytes = await plainPicture("300x300");
	picture = base64(bytes);
});
afterAll(async () => {
	await images.stop();
	await hosts.stop();
});

const edit = (body: object) => images.post("/image/multi-edit", { prompt: "put it together", images: [picture], ...body });

interface Refusal {
	readonly error: string;
	readonly code: string;
	readonly issues: readonly { readonly path: readonly unknown[]; readonly code: string; readonly maximum?: number }[];
}

test("400 for four pictures, in JSON and in a form", async () => {
	const form = await images.form("/image/multi-edit", [...[1, 2, 3, 4].map(() => ["images", bytes] as const), ["prompt", "x"]]);
	for (const response of [await edit({ images: [picture, picture, picture, picture] }), form]) {
		expect(response.status).toBe(400);
		expect(((await response.json()) as Refusal).issues[0]).toMatchObject({ code: "too_big", maximum: 3, path: ["images"] });
	}
});

test.each([
	["no pictures", { images: undefined }, ["images"]],
	["an empty list", { images: [] }, ["images"]],
	["one text in the place of a list", { images: "abc" }, ["images"]],
	["a picture that is a number", { images: [7] }, ["images", 0]],
	["model", { model: "qwen-edit" }, ["model"]],
	["modelId that is none", { modelId: "default" }, ["modelId"]],
	["no prompt", { prompt: undefined }, ["prompt"]],
])("400 for %s", async (_, body, path) => {
	const response = await edit(body);
	expect(response.status).toBe(400);
	const { code, issues } = (await response.json()) as Refusal;
	expect(code).toBe("INVALID_REQUEST");
	expect(issues[0]?.path).toEqual(path);
});

test("400 names the picture that is at fault", async () => {
	for (const modelId of ["firered-image-edit", "local-edit"]) {
		const response = await edit({ images: [picture, base64(sampleImage("truncated.jpg"))], modelId, prompt: "overlay image 2" });
		expect(response.status).toBe(400);
		expect(await response.json()).toMatchObject({ code: "CORRUPTED_IMAGE", issues: [{ path: ["images", 1] }] });
	}
});

test("400 for an address or base64 in a form, where only files are taken", async () => {
	const response = await images.form("/image/multi-edit", [
		["images", "http://site.example/a.png"],
		["prompt", "x"],
	]);
	expect(response.status).toBe(400);
	expect(((await response.json()) as Refusal).issues[0]?.path).toEqual(["images"]);
});

test("413 for a picture of 25 MB behind an address", async () => {
	const response = await edit({ images: [picture, "http://site.example/huge.png"] });
	expect(response.status).toBe(413);
	expect(await response.json()).toMatchObject({ code: "PAYLOAD_TOO_LARGE" });
});

test("401, 402, 403, 415 and 422 as on /image/edit", async () => {
	const url = `${images.gate.url}/api/v1/image/multi-edit`;
	const authorization = `Bearer ${images.gate.key}`;
	const json = { "content-type": "application/json" };
	expect((await fetch(url, { method: "POST", headers: json, body: "{}" })).status).toBe(401);
	const poor = await images.gate.newKey({ creditUsd: "0.01" });
	const paid = { ...json, authorization: `Bearer ${poor.secret}` };
	const body = JSON.stringify({ prompt: "x", images: [picture] });
	expect((await fetch(url, { method: "POST", headers: paid, body })).status).toBe(402);
	const restrictions = { models: null, endpoints: ["chat"], networks: null, addresses: null };
	const narrow = await images.gate.newKey({ creditUsd: "1", key: { restrictions } });
	const other = { ...json, authorization: `Bearer ${narrow.secret}` };
	expect((await fetch(url, { method: "POST", headers: other, body })).status).toBe(403);
	expect((await fetch(url, { method: "POST", headers: { authorization, "content-type": "image/png" }, body })).status).toBe(415);
	expect((await edit({ images: [base64(sampleImage("decompression_bomb_16000x16000.png"))] })).status).toBe(422);
	expect((await images.gate.posts()).every(({ price }) => price === 0)).toBe(true);
});
