/** Voices and pictures of an upstream: an id that it lists is its own model, whatever stands for that name elsewhere. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { ScoredEngine } from "../support/image-engine.ts";
import { type RunningGateway, startGateway, upstreamEntry } from "../support/running-gateway.ts";
import { audioOf } from "../support/scripted-audio-upstream.ts";

interface ReceivedRequest {
	readonly path: string;
	readonly body: Readonly<Record<string, unknown>>;
}

const asked: ReceivedRequest[] = [];
const PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const server = Bun.serve({
	port: 0,
	async fetch(request) {
		const path = new URL(request.url).pathname;
		if (path === "/v1/models") return Response.json({ data: [{ id: "tts-1" }, { id: "dall-e-3" }, { id: "some-chat" }] });
		if (path === "/v1/audio/voices") return Response.json({ voices: ["bella", "nova"] });
		asked.push({ path, body: (await request.json()) as ReceivedRequest["body"] });
		if (path === "/v1/audio/speech")
			return new Response(audioOf("Hello.") as Uint8Array<ArrayBuffer>, { headers: { "content-type": "audio/mpeg" } });
		return Response.json({ created: 1, data: [{ b64_json: PICTURE }] });
	},
});
let gate: RunningGateway;
const engine = new ScoredEngine();
beforeAll(async () => {
	gate = await startGateway({
		images: engine,
		config: { upstreams: { own: upstreamEntry(`http://127.0.0.1:${server.port}/v1`) } },
	});
});
afterAll(async () => {
	await gate.stop();
	await engine.stop();
	await server.stop(true);
});

test("a voice that the upstream lists is spoken there, and not by the built-in model of that name's mapping", async () => {
	const answer = await gate.call("POST", "/audio/speech", { model: "tts-1", input: "Hello.", voice: "bella" });
	expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "audio/mpeg"]);
	await answer.body?.cancel();
	expect(asked.at(-1)).toMatchObject({ path: "/v1/audio/speech", body: { model: "tts-1", voice: "bella", input: "Hello." } });
	const other = await gate.call("POST", "/audio/speech", { model: "tts-1", input: "Hello.", voice: "nobody" });
	expect([other.status, await other.text()]).toEqual([400, expect.stringContaining("bella, nova")]);
});

test("a picture model that the upstream lists is asked there", async () => {
	const answer = await gate.call("POST", "/images/generations", { model: "dall-e-3", prompt: "a kite" });
	expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("b64_json")]);
	expect(asked.at(-1)).toMatchObject({ path: "/v1/images/generations", body: { model: "dall-e-3", prompt: "a kite" } });
});

test("they are listed by their types, without a price", async () => {
	const idsOf = async (type: string) => {
		const { data } = (await (await gate.call("GET", `/models?type=${type}`)).json()) as { data: { id: string }[] };
		return data.map(({ id }) => id);
	};
	expect(await idsOf("tts")).toContain("tts-1");
	expect(await idsOf("image")).toContain("dall-e-3");
	expect(await idsOf("text")).not.toContain("tts-1");
});
