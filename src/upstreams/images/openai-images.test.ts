import { afterAll, beforeEach, expect, test } from "bun:test";
import { plainPicture } from "../../../test/support/plain-picture.ts";
import { startScriptedImageUpstream } from "../../../test/support/scripted-image-upstream.ts";
import type { DialectName } from "../chat/dialects.ts";
import { configuredServer, endpointAt } from "../upstream-server.ts";
import { openAiImages } from "./openai-images.ts";
import type { ImageForward } from "./port.ts";

const upstream = startScriptedImageUpstream((size) => plainPicture(size));
beforeEach(() => upstream.reset());
afterAll(() => upstream.stop());

const PICTURE = { bytes: new Uint8Array([1, 2, 3]), mediaType: "image/png", role: "picture" } as const;

function ask(dialect: DialectName, more: Partial<ImageForward> = {}, model = "painter"): Promise<readonly Uint8Array[]> {
	const config = { url: upstream.url, dialect, discover: false, health: { failures: 3, probeEveryMs: 5_000 } };
	const target = { upstream: "x", model, weight: 1, order: 0 };
	const { signal } = new AbortController();
	const call: ImageForward = {
		requestId: "r",
		tenant: "acc_a",
		targets: [target],
		kind: "edit",
		prompt: "green",
		pictures: [PICTURE],
		size: { width: 64, height: 32 },
		aspectRatio: null,
		resolution: "1K",
		quality: null,
		count: 1,
		seed: 7,
		signal,
		onSent() {},
		...more,
	};
	const server = configuredServer("x", config);
	return openAiImages(call, { target, model, server, endpoint: endpointAt(upstream.url, undefined, {}), fetch, signal });
}

test("OpenAI's own models are not told how to answer, older ones and other servers are", async () => {
	await ask("openai");
	await ask("openai", {}, "dall-e-2");
	await ask("generic");
	expect(upstream.requests.map(({ body }) => body.response_format)).toEqual([undefined, "b64_json", "b64_json"]);
	expect(upstream.requests[0]?.body).toEqual({ model: "painter", prompt: "green", size: "64x32" });
});

test("what only servers of diffusion take goes to vLLM-Omni, in a form too", async () => {
	await ask("vllm");
	expect(upstream.requests[0]?.body.seed).toBe("7");
});

test("without a size none is sent", async () => {
	await ask("generic", { size: null });
	expect(upstream.requests[0]?.body.size).toBeUndefined();
});

test("more pictures than were asked for are left out; an answer over 4 MiB is read as well", async () => {
	const large = new Uint8Array(4_000_000);
	large.set(await plainPicture("64x32"));
	upstream.always({ pictures: [large, large, large] });
	const pictures = await ask("generic", { kind: "generate", pictures: [], count: 2 });
	expect(pictures.map(({ length }) => length)).toEqual([4_000_000, 4_000_000]);
	expect(Buffer.from(pictures[1] ?? []).equals(large)).toBe(true);
});

test("fixed prompts for enlarging and for the background", async () => {
	await ask("generic", { kind: "upscale", prompt: "" });
	await ask("generic", { kind: "background-remove", prompt: "" });
	expect(upstream.requests.map(({ path }) => path)).toEqual(["/v1/images/edits", "/v1/images/edits"]);
	expect(upstream.requests[0]?.body.prompt).toContain("Upscale");
	expect(upstream.requests[1]?.body).toMatchObject({ background: "transparent", output_format: "png" });
});
