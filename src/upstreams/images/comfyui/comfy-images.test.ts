/** ComfyUI on a real socket: what its queue gets, what comes of a job, and that no job is left behind. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plainPicture } from "../../../../test/support/plain-picture.ts";
import { startScriptedComfy } from "../../../../test/support/scripted-comfyui.ts";
import type { ModelTarget } from "../../../catalog/types.ts";
import { UpstreamFailure } from "../../failures.ts";
import { configuredServer, endpointAt } from "../../upstream-server.ts";
import type { ImageForward, InputPicture } from "../port.ts";
import { comfyImages } from "./comfy-images.ts";

const made = await plainPicture("64x48");
const server = startScriptedComfy(made);
const folder = mkdtempSync(join(tmpdir(), "turnpike-comfy-"));
const workflow = join(folder, "edit.json");
const node = (class_type: string, inputs: object) => ({ class_type, inputs });
const GRAPH = {
	3: node("KSampler", { seed: 1, steps: 20, model: ["4", 0] }),
	4: node("CheckpointLoaderSimple", { ckpt_name: "a.safetensors" }),
	6: node("CLIPTextEncode", { text: "something", clip: ["4", 1] }),
	10: node("LoadImage", { image: "example.png" }),
	11: node("LoadImage", { image: "example.png" }),
	9: node("SaveImage", { images: ["8", 0], filename_prefix: "x" }),
};
writeFileSync(workflow, JSON.stringify(GRAPH));
beforeEach(() => server.reset());
afterAll(async () => {
	rmSync(folder, { recursive: true, force: true });
	await server.stop();
});

const PARAMETERS = {
	"6.text": "{prompt}",
	"3.seed": "{seed}",
	"3.steps": "{steps}",
	"10.image": "{image}",
	"9.filename_prefix": "gate",
};
const picture = (byte: number, role: InputPicture["role"] = "picture"): InputPicture => ({
	bytes: new Uint8Array([byte]),
	mediaType: "image/png",
	role,
});

interface CallOptions {
	readonly call?: Partial<ImageForward>;
	readonly target?: Partial<ModelTarget>;
	readonly signal?: AbortSignal;
}

function ask({ call = {}, target = {}, signal = new AbortController().signal }: CallOptions = {}) {
	const config = {
		url: server.url,
		key: "comfy-key",
		dialect: "generic",
		discover: false,
		health: { failures: 3, probeEveryMs: 5_000 },
	} as const;
	const forward: ImageForward = {
		requestId: "request-1",
		tenant: "acc_a",
		targets: [],
		kind: "edit",
		prompt: 'a "kite" {seed}',
		pictures: [picture(1)],
		size: { width: 1024, height: 768 },
		aspectRatio: null,
		resolution: "1K",
		quality: null,
		count: 1,
		signal,
		onSent() {},
		...call,
	};
	return comfyImages(forward, {
		target: {
			upstream: "comfy",
			model: "m",
			weight: 1,
			order: 0,
			protocol: "comfyui",
			workflow,
			parameters: PARAMETERS,
			...target,
		},
		model: "m",
		server: configuredServer("comfy", config),
		endpoint: endpointAt(config.url, config.key, {}),
		fetch,
		signal,
	});
}

const failureOf = (work: Promise<unknown>): Promise<UpstreamFailure> =>
	work.then(
		() => Promise.reject(new Error("it was made")),
		(error: unknown) => (error instanceof UpstreamFailure ? error : Promise.reject(error)),
	);

describe("a job", () => {
	test("has the workflow with its inputs filled in, and answers the picture", async () => {
		const pictures = await ask({ call: { seed: 5, steps: 8 } });
		expect(pictures.map((bytes) => Buffer.from(bytes).equals(made))).toEqual([true]);
		const [job] = server.jobs;
		const [name] = [...server.uploads.keys()];
		expect(job?.workflow as unknown).toEqual({
			...GRAPH,
			3: node("KSampler", { seed: 5, steps: 8, model: ["4", 0] }),
			6: node("CLIPTextEncode", { text: 'a "kite" {seed}', clip: ["4", 1] }),
			9: node("SaveImage", { images: ["8", 0], filename_prefix: "gate" }),
			10: node("LoadImage", { image: name }),
		});
		expect(name).toMatch(/^turnpike\/[0-9a-f]{64}\.png$/);
		expect([...(server.uploads.get(name ?? "") ?? [])]).toEqual([1]);
		expect(server.stopped).toEqual([]);
		for (const headers of server.headers) expect(headers.get("authorization")).toBe("Bearer comfy-key");
	});

	test("has another seed each time, and keeps what the request does not say", async () => {
		await ask({ call: { count: 2, kind: "generate", pictures: [] } });
		const seeds = server.jobs.map(({ workflow: sent }) => sent[3]?.inputs.seed);
		expect(new Set(seeds).size).toBe(2);
		expect(seeds.every((seed) => Number.isSafeInteger(seed))).toBe(true);
		expect(server.jobs[0]?.workflow[3]?.inputs.steps).toBe(20);
		expect(server.jobs[0]?.workflow[10]?.inputs.image).toBe("example.png");
	});

	test("takes several pictures and a mask where its workflow names them", async () => {
		const parameters = { "10.image": "{image}", "11.image": "{mask}" };
		await ask({ target: { parameters }, call: { pictures: [picture(1), picture(9, "mask")] } });
		const inputs = server.jobs[0]?.workflow;
		const bytes = [10, 11].map((id) => server.uploads.get(String(inputs?.[id]?.inputs.image))?.[0]);
		expect(bytes).toEqual([1, 9]);
	});

	test("is passed over with more pictures than the workflow names", async () => {
		const failure = await failureOf(ask({ call: { pictures: [picture(1), picture(2)] } }));
		expect([failure.kind, failure.answer.code]).toEqual(["given", "INVALID_REQUEST"]);
		expect(failure.answer.message).toContain("takes 1 picture, not 2");
		const masked = await failureOf(ask({ call: { pictures: [picture(1), picture(2, "mask")] } }));
		expect(masked.answer.message).toContain("takes no mask");
		expect(server.jobs).toEqual([]);
	});
});

describe("the picture that counts", () => {
	const shown = { filename: "shown.png", type: "temp" };
	const kept = { filename: "kept.png", type: "output" };
	const other = { filename: "other.png", type: "output" };

	test.each([
		["what is stored before what is shown", { 7: [shown], 9: [kept] }, undefined],
		["what is shown where nothing is stored", { 7: [shown] }, undefined],
		["the node that the operator names", { 9: [kept], 12: [other] }, "12"],
	])("is %s", async (_, stores, output) => {
		server.behave({ stores });
		expect((await ask({ target: output === undefined ? {} : { output } })).length).toBe(1);
	});

	test("is missing where the workflow stores none, or the node none", async () => {
		server.behave({ stores: {} });
		expect((await failureOf(ask())).kind).toBe("broken");
		server.behave({ stores: { 9: [kept] } });
		expect((await failureOf(ask({ target: { output: "12" } }))).kind).toBe("broken");
	});

	test("is a picture", async () => {
		server.behave({ picture: new TextEncoder().encode("no") });
		expect((await failureOf(ask())).kind).toBe("broken");
	});
});

describe("failures", () => {
	test("of a node: broken, told by the node's kind alone", async () => {
		server.behave({ fails: "KSampler" });
		const failure = await failureOf(ask());
		expect([failure.kind, failure.message]).toEqual(["broken", "the workflow failed at KSampler"]);
	});

	test("a workflow that the server refuses is offline", async () => {
		server.behave({ refuses: "value_not_in_list" });
		const failure = await failureOf(ask());
		expect([failure.kind, failure.isFault]).toEqual(["offline", false]);
		expect(failure.message).toContain("value_not_in_list");
	});

	test.each(["../../elsewhere?x=", "@127.0.0.1:1/", "a/b", "", "x".repeat(200)])("an id that is none: %p", async (id) => {
		server.behave({ id });
		expect((await failureOf(ask())).kind).toBe("broken");
		expect(server.headers).toHaveLength(2);
	});

	test("a job that the server has forgotten", async () => {
		server.behave({ forgets: true });
		expect((await failureOf(ask())).message).toContain("forgotten");
	});

	test.each([
		[401, "account"],
		[429, "busy"],
		[503, "broken"],
	])("status %i is %s", async (status, kind) => {
		server.behave({ status });
		expect((await failureOf(ask())).kind).toBe(kind as UpstreamFailure["kind"]);
	});

	test("workflows that are not there, are none, or lack a node are offline", async () => {
		const page = join(folder, "page.json");
		writeFileSync(page, JSON.stringify({ nodes: [], links: [] }));
		for (const target of [{ workflow: join(folder, "none.json") }, { workflow: page }, { parameters: { "77.text": "{prompt}" } }])
			expect((await failureOf(ask({ target, call: { pictures: [] } }))).kind).toBe("offline");
	});

	test("a workflow that was changed is read again", async () => {
		const own = join(folder, "own.json");
		writeFileSync(own, "{");
		expect((await failureOf(ask({ target: { workflow: own } }))).kind).toBe("offline");
		writeFileSync(own, JSON.stringify(GRAPH));
		expect((await ask({ target: { workflow: own } })).length).toBe(1);
	});
});

describe("a caller that leaves", () => {
	test.each([
		["running", "interrupted"],
		["pending", "deleted"],
	] as const)("ends a job that is %s", async (stays, how) => {
		server.behave({ stays });
		const leaving = new AbortController();
		const work = ask({ signal: leaving.signal });
		work.catch(() => {});
		while (server.jobs.length === 0) await Bun.sleep(5);
		leaving.abort();
		await server.hasStopped();
		expect(server.stopped).toEqual([{ how, id: server.jobs[0]?.id ?? "" }]);
		await expect(work).rejects.toThrow();
	});
});
