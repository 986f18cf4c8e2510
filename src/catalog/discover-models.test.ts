import { afterEach, describe, expect, test } from "bun:test";
import type { UpstreamConfig } from "../config/index.ts";
import { DiscoveryError, discoverModels } from "./discover-models.ts";
import { configOf } from "./testing/config.ts";

const servers: { stop(force: boolean): Promise<void> }[] = [];
afterEach(async () => {
	for (const server of servers.splice(0)) await server.stop(true);
});

/** A real server that answers each path as told; other paths are 404. */
function upstream(
	paths: Record<string, (request: Request) => Response | Promise<Response>>,
	more: Record<string, unknown> = {},
): UpstreamConfig {
	const server = Bun.serve({
		hostname: "127.0.0.1",
		port: 0,
		fetch: (request) => paths[new URL(request.url).pathname]?.(request) ?? new Response("not here", { status: 404 }),
	});
	servers.push(server);
	const config = configOf({ upstreams: { a: { url: `http://127.0.0.1:${server.port}/v1`, ...more } } }).upstreams.a;
	if (!config) throw new Error("no upstream");
	return config;
}

const list = (data: unknown) => () => Response.json({ object: "list", data });
const ids = async (config: UpstreamConfig) => (await discoverModels(config)).map(({ id }) => id);

async function faultOf(config: UpstreamConfig, options = {}): Promise<DiscoveryError> {
	const error = await discoverModels(config, options).then(
		() => undefined,
		(thrown: unknown) => thrown,
	);
	if (error instanceof DiscoveryError) return error;
	throw new Error(`not a DiscoveryError: ${error}`);
}

describe("a list", () => {
	test("is read with ids as they are, `:` and `/` in them too", async () => {
		const config = upstream({
			"/v1/models": list([{ id: "llama3.2:1b", created: 1_700_000_000 }, { id: "../models/a b.gguf" }]),
		});
		expect(await discoverModels(config)).toEqual([
			{ id: "llama3.2:1b", type: "text", created: 1_700_000_000, contextTokens: null, maxCompletionTokens: null },
			{ id: "../models/a b.gguf", type: "text", created: null, contextTokens: null, maxCompletionTokens: null },
		]);
	});

	test("is asked for with the key and the headers of the configuration, below a base with or without a slash", async () => {
		const seen: (string | null)[] = [];
		const paths = {
			"/v1/models": (request: Request) => {
				seen.push(request.headers.get("authorization"), request.headers.get("x-team"));
				return Response.json({ data: [] });
			},
		};
		const config = upstream(paths, { key: "sk-1", headers: { "x-team": "blue" } });
		await discoverModels(config);
		await discoverModels({ ...config, url: `${config.url}/` });
		expect(seen).toEqual(["Bearer sk-1", "blue", "Bearer sk-1", "blue"]);
	});

	test("may be empty, null, bare, or called models", async () => {
		expect(await ids(upstream({ "/v1/models": list([]) }))).toEqual([]);
		expect(await ids(upstream({ "/v1/models": list(null) }))).toEqual([]);
		expect(await ids(upstream({ "/v1/models": () => Response.json([{ id: "x" }]) }))).toEqual(["x"]);
		expect(await ids(upstream({ "/v1/models": () => Response.json({ models: [{ id: "x" }] }) }))).toEqual(["x"]);
	});

	test("loses entries without a usable id, and second ones of an id", async () => {
		const odd = [
			null,
			5,
			"x",
			[],
			{},
			{ id: 5 },
			{ id: "" },
			{ id: "  " },
			{ id: "a\nb" },
			{ id: "x".repeat(513) },
			{ id: { a: 1 } },
		];
		expect(await ids(upstream({ "/v1/models": list([...odd, { id: "good" }, { id: "good" }, { id: "__proto__" }]) }))).toEqual([
			"good",
			"__proto__",
		]);
	});

	test("has the name of a model that is numbered or has no id", async () => {
		const named = [{ id: 7, name: "llama-3" }, { id: 8, name: "a\nb" }, { id: 9 }, { id: null, model: "qwen" }];
		expect(await ids(upstream({ "/v1/models": list(named) }))).toEqual(["llama-3", "qwen"]);
		const tags = [{ name: "llama3.2:1b", model: "llama3.2:1b", details: {} }];
		expect(await ids(upstream({ "/v1/models": () => Response.json({ models: tags }) }))).toEqual(["llama3.2:1b"]);
	});

	test("of speech models has the voices that their server lists", async () => {
		const models = list([{ id: "kokoro" }, { id: "chat" }]);
		const voicesOf = async (told: unknown) =>
			(await discoverModels(upstream({ "/v1/models": models, "/v1/audio/voices": () => Response.json(told) }))).map(
				({ voices }) => voices,
			);
		expect(await voicesOf({ voices: ["af_bella", "am_adam"] })).toEqual([["af_bella", "am_adam"], undefined]);
		expect(await voicesOf([{ id: "a" }, { name: "b" }, { voice_id: "c" }, 5])).toEqual([["a", "b", "c"], undefined]);
		for (const told of [{ voices: [] }, { voices: "a" }, 5]) expect(await voicesOf(told)).toEqual([undefined, undefined]);
		expect(await discoverModels(upstream({ "/v1/models": models }))).toMatchObject([{ id: "kokoro", type: "tts" }, {}]);
	});

	test("loses what its server says is no model that can be called, and marks kinds", async () => {
		const told = [
			{ id: "a", type: "image" },
			{ id: "v", type: "rerank" },
			{ id: "b", type: "embedding" },
			{ id: "c", type: "chat" },
			{ id: "d", type: "model" },
		];
		const models = await discoverModels(upstream({ "/v1/models": list(told) }));
		expect(models.map(({ id, type }) => [id, type])).toEqual([
			["a", "image"],
			["b", "embedding"],
			["c", "text"],
			["d", "text"],
		]);
	});

	test("of many thousands is cut", async () => {
		const many = Array.from({ length: 20_000 }, (_, index) => ({ id: `m${index}` }));
		expect(await ids(upstream({ "/v1/models": list(many) }))).toHaveLength(5_000);
	});

	test("tells contexts and output limits where its server gives them, and takes no nonsense for them", async () => {
		const told = [
			{ id: "vllm", max_model_len: 32_768 },
			{ id: "router", context_length: 200_000, top_provider: { max_completion_tokens: 8192 } },
			{ id: "groq", context_window: 131_072, max_completion_tokens: 1024 },
			...[-1, 0, 1.5, "4096", 1e300, null, {}].map((bad, index) => ({ id: `bad${index}`, max_model_len: bad, created: bad })),
		];
		const models = await discoverModels(upstream({ "/v1/models": list(told) }));
		expect(models.slice(0, 3).map(({ contextTokens, maxCompletionTokens }) => [contextTokens, maxCompletionTokens])).toEqual([
			[32_768, null],
			[200_000, 8192],
			[131_072, 1024],
		]);
		for (const { contextTokens, created } of models.slice(3)) expect([contextTokens, created]).toEqual([null, null]);
	});
});

describe("by dialect the context is asked for", () => {
	test("llama.cpp: GET /props", async () => {
		const paths = {
			"/v1/models": list([{ id: "m.gguf", meta: { n_ctx_train: 131_072 } }]),
			"/props": () => Response.json({ default_generation_settings: { n_ctx: 8192 }, total_slots: 4 }),
		};
		expect(await discoverModels(upstream(paths, { dialect: "llama.cpp" }))).toMatchObject([
			{ id: "m.gguf", contextTokens: 8192 },
		]);
	});

	/** As llama.cpp of October 2026 answers, in xllamacpp 2026.10.11549. */
	test.each([
		[{}, {}, { supportsVision: false, supportsAudioInput: false, supportsVideoInput: false }],
		[
			{ modalities: { vision: true, audio: false, video: false } },
			{ chat_template_caps: { supports_tools: true, supports_tool_calls: true } },
			{ supportsVision: true, supportsAudioInput: false, supportsVideoInput: false, supportsFunctionCalling: true },
		],
		[
			{ modalities: { vision: false, video: false, audio: false } },
			{ chat_template_caps: { supports_tools: false, supports_tool_calls: false, supports_reasoning_effort: false } },
			{ supportsVision: false, supportsAudioInput: false, supportsVideoInput: false, supportsFunctionCalling: false },
		],
	])("llama.cpp: what a model reads and whether it calls tools: %j %j", async (modalities, template, capabilities) => {
		const architecture = { input_modalities: ["text"], output_modalities: ["text"] };
		const paths = {
			"/v1/models": list([{ id: "m.gguf", owned_by: "llamacpp", architecture, meta: { n_ctx: 1024, n_ctx_train: 8192 } }]),
			"/props": () => Response.json({ default_generation_settings: { n_ctx: 1024 }, ...modalities, ...template }),
		};
		const [model] = await discoverModels(upstream(paths));
		expect(model).toMatchObject({ id: "m.gguf", contextTokens: 1024 });
		expect(model?.capabilities).toEqual(capabilities);
	});

	test("OpenRouter: what a model reads", async () => {
		const reading = (...input_modalities: string[]) => ({ architecture: { input_modalities, output_modalities: ["text"] } });
		const paths = {
			"/v1/models": list([{ id: "eyes", ...reading("text", "image") }, { id: "blind", ...reading("text") }, { id: "x" }]),
		};
		const models = await discoverModels(upstream(paths));
		expect(models.map(({ capabilities }) => capabilities?.supportsVision)).toEqual([true, false, undefined]);
	});

	test("llama.cpp with several models: GET /props of each that runs, else what its list says; none is loaded", async () => {
		const args = (...more: string[]) => ["llama-server", "--alias", "x", ...more];
		const items = [
			{ id: "org/a:Q4", status: { value: "loaded", args: args("-ctx", "4096") } },
			{ id: "sleeps", status: { value: "sleeping", args: args("--ctx-size", "2048") } },
			{ id: "idle", status: { value: "unloaded", args: args("--ctx-size", "16384", "--parallel", "4") } },
			{ id: "shared", status: { value: "unloaded", args: args("-c", "16384", "-np", "4", "--kv-unified") } },
			{ id: "own", status: { value: "loading", args: args("--ctx-size", "0") } },
			{ id: "told", status: { value: "unloaded" }, meta: { n_ctx: 512 } },
			{ id: "bare", status: { value: "unloaded" } },
			{ id: "fails", status: { value: "loaded", args: args("-c", "1024") } },
		];
		const asked: string[] = [];
		const contexts: Record<string, number> = { "org/a:Q4": 32_768, sleeps: 8192 };
		const paths = {
			"/v1/models": list(items.map((item) => ({ ...item, object: "model", owned_by: "llamacpp" }))),
			"/props": (request: Request) => {
				const { searchParams } = new URL(request.url);
				const model = searchParams.get("model") ?? "none";
				asked.push(`${model} ${searchParams.get("autoload")}`);
				const context = contexts[model];
				if (context === undefined) return new Response(null, { status: 400 });
				return Response.json({ default_generation_settings: { n_ctx: context } });
			},
		};
		const models = await discoverModels(upstream(paths, { dialect: "generic" }));
		expect(models.map(({ id, contextTokens }) => [id, contextTokens])).toEqual([
			["org/a:Q4", 32_768],
			["sleeps", 8192],
			["idle", 4096],
			["shared", 16_384],
			["own", null],
			["told", 512],
			["bare", null],
			["fails", 1024],
		]);
		expect(asked.sort()).toEqual(["fails false", "org/a:Q4 false", "sleeps false"]);
	});

	test("LM Studio: GET /api/v0/models, the loaded context before the largest one", async () => {
		const paths = {
			"/v1/models": list([{ id: "a" }, { id: "b" }, { id: "e" }]),
			"/api/v0/models": list([
				{ id: "a", type: "llm", state: "loaded", max_context_length: 131_072, loaded_context_length: 4096 },
				{ id: "b", type: "vlm", max_context_length: 32_768 },
				{ id: "e", type: "embeddings", max_context_length: 2048 },
			]),
		};
		const models = await discoverModels(upstream(paths, { dialect: "lmstudio" }));
		expect(models.map(({ id, type, contextTokens }) => [id, type, contextTokens])).toEqual([
			["a", "text", 4096],
			["b", "text", 32_768],
			["e", "embedding", 2048],
		]);
	});

	test("Ollama: POST /api/show for each, num_ctx of its file before the context it runs with and was trained for", async () => {
		const answers: Record<string, unknown> = {
			"a:1b": {
				parameters: 'stop "<|x|>"\nnum_ctx                        16384\ntemperature 1',
				model_info: { "llama.context_length": 131_072 },
			},
			"b:1b": {
				model_info: { "general.architecture": "qwen2", "qwen2.context_length": 32_768 },
				capabilities: ["completion", "tools"],
			},
			nomic: { model_info: { "nomic-bert.context_length": 2048 }, capabilities: ["embedding"] },
			odd: { parameters: 5, model_info: "none" },
			"loaded:1b": { model_info: { "llama.context_length": 131_072 } },
		};
		const paths = {
			"/v1/models": list([...Object.keys(answers), "gone"].map((id) => ({ id }))),
			"/api/ps": () =>
				Response.json({
					models: [{ model: "loaded:1b", context_length: 4096 }, { model: "a:1b", context_length: 2 }, 5],
				}),
			"/api/show": async (request: Request) => {
				const { model } = (await request.json()) as { model: string };
				return answers[model] ? Response.json(answers[model]) : new Response("no such model", { status: 404 });
			},
		};
		const models = await discoverModels(upstream(paths, { dialect: "ollama" }));
		expect(models.map(({ id, type, contextTokens }) => [id, type, contextTokens])).toEqual([
			["a:1b", "text", 16_384],
			["b:1b", "text", 32_768],
			["nomic", "embedding", 2048],
			["odd", "text", null],
			["loaded:1b", "text", 4096],
			["gone", "text", null],
		]);
	});

	test.each(["llama.cpp", "lmstudio", "ollama"])("%s: a server that does not tell is no fault", async (dialect) => {
		expect(await ids(upstream({ "/v1/models": list([{ id: "x" }]) }, { dialect }))).toEqual(["x"]);
		const html = () => new Response("<html>", { headers: { "content-type": "text/html" } });
		const paths = { "/v1/models": list([{ id: "x" }]), "/props": html, "/api/v0/models": html, "/api/show": html };
		expect(await ids(upstream(paths, { dialect }))).toEqual(["x"]);
	});

	test.each(["llama.cpp", "lmstudio", "ollama"])(
		"%s: a server that hangs there costs the time limit, not the list",
		async (dialect) => {
			const hang = () => new Promise<Response>(() => {});
			const paths = { "/v1/models": list([{ id: "x" }, ...(dialect === "llama.cpp" ? [] : [{ id: "y" }])]) };
			const config = upstream({ ...paths, "/props": hang, "/api/v0/models": hang, "/api/show": hang }, { dialect });
			expect((await discoverModels(config, { timeoutMs: 2_000 })).map(({ id }) => id)).toContain("x");
		},
	);
});

describe("no list is a fault that says what came instead", () => {
	test.each([
		["HTML", () => new Response("<!doctype html><p>hi", { headers: { "content-type": "text/html" } }), "not-json", "HTML"],
		["cut JSON", () => new Response('{"data": [{"id": "x"'), "not-json", "not JSON"],
		["an empty body", () => new Response(""), "not-json", "not JSON"],
		["JSON of another shape", () => Response.json({ error: "x" }), "not-a-list", "without a list"],
		["a JSON string", () => Response.json("x"), "not-a-list", "without a list"],
		["401", () => Response.json({ error: "bad key" }, { status: 401 }), "status", "401"],
		["500", () => new Response("oops", { status: 500 }), "status", "500"],
		["a redirect", () => Response.redirect("http://169.254.169.254/", 302), "status", "302"],
	] as const)("%s", async (_, answer, fault, text) => {
		const error = await faultOf(upstream({ "/v1/models": answer }, { key: "sk-secret" }));
		expect(error.fault).toBe(fault);
		expect(error.message).toContain(text);
		expect(error.message).not.toContain("sk-secret");
	});

	test("an answer over the size limit, announced or not", async () => {
		const big = "x".repeat(200_000);
		const streamed = () =>
			new Response(
				new ReadableStream({
					pull: (controller) => controller.enqueue(new TextEncoder().encode(big)),
				}),
			);
		for (const answer of [() => new Response(big), streamed])
			expect((await faultOf(upstream({ "/v1/models": answer }), { maxBytes: 100_000 })).fault).toBe("too-large");
	});

	test("a server that hangs before or inside its answer", async () => {
		const inside = () =>
			new Response(new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode("{")) }));
		for (const answer of [() => new Promise<Response>(() => {}), inside])
			expect((await faultOf(upstream({ "/v1/models": answer }), { timeoutMs: 150 })).fault).toBe("timeout");
	});

	test("a port where nobody listens, and a url that is none", async () => {
		const config = upstream({});
		for (const server of servers.splice(0)) await server.stop(true);
		expect((await faultOf(config)).fault).toBe("unreachable");
		expect((await faultOf({ ...config, url: "http://" })).fault).toBe("unreachable");
	});
});

describe("kinds", () => {
	const kindsOf = async (...items: readonly object[]) =>
		Object.fromEntries((await discoverModels(upstream({ "/v1/models": list(items) }))).map(({ id, type }) => [id, type]));

	test("are told by the id where the server says nothing", async () => {
		const chat = ["gpt-4o", "gpt-4o-audio-preview", "qwen3:8b", "deepseek-r1", "gemma3", "org/llama-3.1-8b-instruct", "flexible"];
		const vectors = [
			"text-embedding-3-small",
			"nomic-embed-text",
			"nomic-embed-text:latest",
			"mxbai-embed-large",
			"BAAI/bge-m3",
			"intfloat/e5-mistral-7b-instruct",
			"sentence-transformers/all-MiniLM-L6-v2",
			"Qwen/Qwen3-Embedding-0.6B",
			"embeddinggemma:300m",
			"text-embedding-embeddinggemma-300m",
			"ggml-org/embeddinggemma-300M-GGUF",
			"paraphrase-multilingual",
			"sentence-transformers/all-mpnet-base-v2",
			"sentence-transformers/clip-ViT-B-32",
			"shibing624/text2vec-base-chinese",
		];
		const others = [
			"whisper-1",
			"openai/whisper-large-v3",
			"gpt-4o-transcribe",
			"omni-moderation-latest",
			"text-moderation-stable",
			"BAAI/bge-reranker-v2-m3",
			"sora-2",
			"gpt-realtime-mini",
			"mistral-ocr-latest",
			"Qwen/Qwen-Image-Edit",
			"grok-imagine-video",
			"black-forest-labs/FLUX.1-Kontext-dev-edit",
		];
		const voices = ["tts-1", "tts-1-hd", "gpt-4o-mini-tts", "kokoro", "hexgrad/Kokoro-82M", "canopylabs/orpheus-v1-english"];
		const pictures = [
			"dall-e-3",
			"gpt-image-1",
			"stable-diffusion-xl",
			"black-forest-labs/flux-1-schnell",
			"stabilityai/sd3.5-large",
			"grok-2-image-1212",
			"models/imagen-4.0-generate-001",
		];
		expect(await kindsOf(...[...chat, ...vectors, ...others, ...voices, ...pictures].map((id) => ({ id })))).toEqual({
			...Object.fromEntries(voices.map((id) => [id, "tts"])),
			...Object.fromEntries(pictures.map((id) => [id, "image"])),
			...Object.fromEntries(chat.map((id) => [id, "text"])),
			...Object.fromEntries(vectors.map((id) => [id, "embedding"])),
		});
	});

	test("that the server says count, also as LiteLLM says them", async () => {
		const items = [
			{ id: "house-vectors", mode: "embedding" },
			{ id: "more-vectors", model_info: { mode: "embedding" } },
			{ id: "house-voice", mode: "audio_speech" },
			{ id: "house-pictures", model_info: { mode: "image_generation" } },
			{ id: "embed-chat", mode: "chat" },
			{ id: "whisper-of-words", type: "llm" },
			{ id: "own-vectors", model_type: "embedding" },
			{ id: "own-voice", model_type: "audio" },
			{ id: "own-chat", model_type: "LLM" },
			{ id: "paints", architecture: { output_modalities: ["image"] } },
			{ id: "points", architecture: { output_modalities: ["embeddings"] } },
			{ id: "says-and-paints", architecture: { output_modalities: ["image", "text"] } },
		];
		expect(await kindsOf(...items)).toEqual({
			"house-vectors": "embedding",
			"more-vectors": "embedding",
			"embed-chat": "text",
			"whisper-of-words": "text",
			"own-vectors": "embedding",
			"own-chat": "text",
			"house-voice": "tts",
			"house-pictures": "image",
			points: "embedding",
			"says-and-paints": "text",
		});
	});
});

describe("servers are told by what they answer, on any port and under any dialect", () => {
	test.each(["generic", "ollama", "vllm"])("llama.cpp under %s", async (dialect) => {
		const config = upstream(
			{
				"/v1/models": list([{ id: "model.gguf", owned_by: "llamacpp", meta: { n_ctx_train: 131_072 } }]),
				"/props": () => Response.json({ default_generation_settings: { n_ctx: 4096 } }),
			},
			{ dialect },
		);
		expect(await discoverModels(config)).toMatchObject([{ id: "model.gguf", contextTokens: 4096 }]);
	});

	test("vLLM on Ollama's port", async () => {
		const config = upstream({ "/v1/models": list([{ id: "m", owned_by: "vllm", max_model_len: 8192 }]) }, { dialect: "ollama" });
		expect(await discoverModels(config)).toMatchObject([{ id: "m", contextTokens: 8192 }]);
	});

	test("LM Studio", async () => {
		const config = upstream({
			"/v1/models": list([{ id: "m", owned_by: "organization_owner" }]),
			"/api/v0/models": list([{ id: "m", type: "llm", max_context_length: 32_768, loaded_context_length: 4096 }]),
		});
		expect(await discoverModels(config)).toMatchObject([{ id: "m", contextTokens: 4096 }]);
	});

	test("Ollama, with what each model can do and cannot", async () => {
		const facts: Record<string, object> = {
			small: { capabilities: ["completion"], model_info: { "llama.context_length": 2048 } },
			able: { capabilities: ["completion", "tools", "vision", "thinking"], model_info: { "qwen3.context_length": 40_960 } },
			vectors: { capabilities: ["embedding"] },
			old: { model_info: { "llama.context_length": 4096 } },
		};
		const config = upstream({
			"/v1/models": list(Object.keys(facts).map((id) => ({ id, owned_by: "library" }))),
			"/api/show": async (request) => Response.json(facts[((await request.json()) as { model: string }).model]),
		});
		const able = (yes: boolean) => ({
			supportsVision: yes,
			supportsFunctionCalling: yes,
			supportsReasoning: yes,
			supportsReasoningEffort: yes,
		});
		const models = await discoverModels(config);
		expect(models).toMatchObject([
			{ id: "small", contextTokens: 2048, capabilities: able(false) },
			{ id: "able", contextTokens: 40_960, capabilities: able(true) },
			{ id: "vectors", type: "embedding" },
			{ id: "old", contextTokens: 4096 },
		]);
		expect(models[3]?.capabilities).toBeUndefined();
	});
});
