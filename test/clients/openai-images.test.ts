/** The `openai` packages of Node and Python as they are published, curl, and Python's requests: pictures sent, edited and made. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import OpenAI, { APIError, toFile } from "openai";
import { decoded, type ImageGateway, plainPicture, startImageGateway } from "../support/image-gateway.ts";

let images: ImageGateway;
let client: OpenAI;
let folder: string;
let picture: Uint8Array;

beforeAll(async () => {
	images = await startImageGateway();
	client = new OpenAI({ baseURL: `${images.gate.url}/api/v1`, apiKey: images.gate.key, maxRetries: 0 });
	folder = mkdtempSync(join(tmpdir(), "turnpike-images-"));
	picture = await plainPicture("600x400", { r: 200, g: 10, b: 10 });
	writeFileSync(join(folder, "picture.png"), picture);
});
afterEach(() => images.reset());
afterAll(async () => {
	await images.stop();
	rmSync(folder, { recursive: true, force: true });
});

const fileOf = (bytes: Uint8Array, name: string) => toFile(bytes, name, { type: "image/png" });
const pictureOf = (answer: OpenAI.ImagesResponse) => decoded(Buffer.from(answer.data?.[0]?.b64_json ?? "", "base64"));

describe("the openai package", () => {
	test("edits one picture, with a mask", async () => {
		const answer = await client.images.edit({
			model: "gpt-image-2-edit",
			image: await fileOf(picture, "a.png"),
			mask: await fileOf(picture, "mask.png"),
			prompt: "make it green",
			size: "1536x1024",
			quality: "low",
		});
		expect(await pictureOf(answer)).toMatchObject({ format: "png", width: 1536, height: 1024 });
		expect(images.upstream.requests[0]?.files.map(({ field }) => field)).toEqual(["image", "mask"]);
	});

	test("edits several pictures", async () => {
		const image = [await fileOf(picture, "a.png"), await fileOf(picture, "b.png"), await fileOf(picture, "c.png")];
		await client.images.edit({ model: "firered-image-edit", image, prompt: "put them together" });
		expect(images.upstream.requests[0]?.files.map(({ field }) => field)).toEqual(["image[]", "image[]", "image[]"]);
	});

	test("edits on this machine", async () => {
		const image = await fileOf(picture, "a.png");
		const answer = await client.images.edit({ model: "local-edit", image, prompt: "resize to 300x200 and invert" });
		expect(await pictureOf(answer)).toMatchObject({ width: 300, height: 200, middle: [55, 245, 245, 255] });
	});

	test("makes a picture by a name that only OpenAI has", async () => {
		const answer = await client.images.generate({ model: "dall-e-3", prompt: "a red kite", size: "1024x1024", n: 1 });
		expect(await pictureOf(answer)).toMatchObject({ format: "png", width: 1024, height: 1024 });
	});

	test("reads a refusal", async () => {
		const image = await fileOf(new TextEncoder().encode("nothing"), "a.png");
		const refusal = await client.images.edit({ model: "local-edit", image, prompt: "invert" }).catch((error: unknown) => error);
		expect(refusal).toBeInstanceOf(APIError);
		expect(refusal).toMatchObject({ status: 400, code: "CORRUPTED_IMAGE", param: "image", type: "invalid_request_error" });
	});
});

describe.skipIf(Bun.which("curl") === null)("curl", () => {
	test("sends a form and keeps the picture", async () => {
		const out = join(folder, "curl.webp");
		const curl = Bun.spawn([
			"curl",
			"-sS",
			"-f",
			`${images.gate.url}/api/v1/image/edit`,
			"-H",
			`Authorization: Bearer ${images.gate.key}`,
			"-F",
			`image=@${join(folder, "picture.png")}`,
			"-F",
			"model=local-edit",
			"-F",
			"prompt=rotate 90",
			"-F",
			"output_format=webp",
			"-o",
			out,
		]);
		expect(await curl.exited).toBe(0);
		expect(await decoded(readFileSync(out))).toMatchObject({ format: "webp", width: 400, height: 600 });
	});
});

const PYTHON = `
import base64, os, requests
url, key, path = os.environ["GATE"], os.environ["KEY"], os.environ["PICTURE"]
auth = {"Authorization": "Bearer " + key}
with open(path, "rb") as file:
    form = requests.post(url + "/image/multi-edit", headers=auth, files=[("images", file)], data={"modelId": "local-edit", "prompt": "resize to 300x300", "safe_mode": "false"})
with open(path, "rb") as file:
    text = base64.b64encode(file.read()).decode()
json = requests.post(url + "/image/edit", headers=auth, json={"image": text, "prompt": "resize to 300x250", "model": "local-edit"})
for answer in (form, json):
    print(answer.status_code, answer.headers["Content-Type"], base64.b64encode(answer.content).decode())
`;
const hasRequests = Bun.which("python3") !== null && Bun.spawnSync(["python3", "-c", "import requests"]).success;

describe.skipIf(!hasRequests)("Python's requests", () => {
	test("sends a form and JSON", async () => {
		const python = Bun.spawn(["python3", "-c", PYTHON], {
			env: { ...process.env, GATE: `${images.gate.url}/api/v1`, KEY: images.gate.key, PICTURE: join(folder, "picture.png") },
		});
		const lines = (await new Response(python.stdout).text()).trim().split("\n");
		expect(await python.exited).toBe(0);
		for (const [index, height] of [300, 250].entries()) {
			const [status, type, text = ""] = (lines[index] ?? "").split(" ");
			expect([status, type]).toEqual(["200", "image/png"]);
			expect(await decoded(Buffer.from(text, "base64"))).toMatchObject({ width: 300, height });
		}
	});
});

const OPENAI_PYTHON = `
import os
from openai import OpenAI, BadRequestError
client = OpenAI(base_url=os.environ["GATE"], api_key=os.environ["KEY"], max_retries=0)
path = os.environ["PICTURE"]
edited = client.images.edit(model="gpt-image-2-edit", image=[open(path, "rb"), open(path, "rb")], mask=open(path, "rb"), prompt="green", size="1024x1024")
made = client.images.generate(model="z-image-turbo", prompt="a red kite", size="512x512")
print(edited.data[0].b64_json)
print(made.data[0].b64_json)
try:
    client.images.edit(model="local-edit", image=open(path, "rb"), prompt="make it nicer")
except BadRequestError as error:
    print(error.code)
`;
const hasVenv = Bun.which("python3") !== null && Bun.spawnSync(["python3", "-c", "import venv, ensurepip"]).success;

describe.skipIf(!hasVenv)("the openai package of Python", () => {
	test("edits several pictures with a mask, makes one, and reads a refusal", async () => {
		const made = Bun.spawnSync(["node", "scripts/python-openai.mjs"], { cwd: join(import.meta.dir, "../..") });
		if (!made.success) throw new Error(made.stderr.toString());
		const python = Bun.spawn([made.stdout.toString().trim(), "-c", OPENAI_PYTHON], {
			env: {
				...process.env,
				NO_PROXY: "*",
				GATE: `${images.gate.url}/api/v1`,
				KEY: images.gate.key,
				PICTURE: join(folder, "picture.png"),
			},
		});
		const lines = (await new Response(python.stdout).text()).trim().split("\n");
		expect(await python.exited).toBe(0);
		expect(await decoded(Buffer.from(lines[0] ?? "", "base64"))).toMatchObject({ width: 1024, height: 1024 });
		expect(await decoded(Buffer.from(lines[1] ?? "", "base64"))).toMatchObject({ width: 512, height: 512 });
		expect(lines[2]).toBe("INVALID_REQUEST");
		expect(images.upstream.requests[0]?.files.map(({ field }) => field)).toEqual(["image[]", "mask", "image[]"]);
	});
});
