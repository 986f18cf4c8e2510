import { describe, expect, test } from "bun:test";
import { ApiError } from "../errors/index.ts";
import { buildCatalog } from "./build-catalog.ts";
import { inputsOf, listed } from "./testing/config.ts";
import type { DiscoveredModel, TextModel } from "./types.ts";

const EMBEDDED_ID = "smollm2-135m-instruct";
const local = { url: "http://127.0.0.1:1/v1" };
const remote = { url: "https://models.example.com/v1" };

function textModel(catalog: ReturnType<typeof buildCatalog>, id: string): TextModel {
	const model = catalog.get(id);
	if (model?.type !== "text") throw new Error(`${id} is no text model`);
	return model;
}

function specOf(catalog: ReturnType<typeof buildCatalog>, id: string): Record<string, unknown> {
	return catalog.get(id)?.public.model_spec as Record<string, unknown>;
}

describe("what is listed", () => {
	test("without configuration: the built-in model and the listed media models, the latter offline", () => {
		const catalog = buildCatalog(inputsOf());
		expect(catalog.list("text").map(({ id }) => id)).toEqual([EMBEDDED_ID]);
		expect(catalog.list("inpaint")).toHaveLength(15);
		expect(catalog.list("tts")).toHaveLength(10);
		expect(catalog.list("image").map(({ id }) => id)).toEqual(["gpt-image-2"]);
		expect(catalog.list("asr")).toHaveLength(5);
		expect(catalog.list("all")).toHaveLength(34);
		for (const model of catalog.list("all")) expect(model.offline).toBe(model.type !== "text");
	});

	test("newest first, then by id", () => {
		const models = buildCatalog(inputsOf({ upstreams: { a: local } }, { a: listed("b", "a", "c") })).list("all");
		for (const [index, model] of models.entries()) {
			const next = models[index + 1];
			if (next) expect(model.created > next.created || (model.created === next.created && model.id < next.id)).toBe(true);
		}
	});

	test("an unlisted media model appears when the configuration maps it, and stays offline without a route", () => {
		const written = { upstreams: { a: remote }, models: { entries: { "qwen-image": { upstreams: [{ upstream: "a" }] } } } };
		const model = buildCatalog(inputsOf(written, {}, { servedTypes: new Set(["text"]) })).get("qwen-image");
		expect(model).toMatchObject({ type: "image", offline: true, targets: [{ upstream: "a", model: "qwen-image" }] });
		expect(buildCatalog(inputsOf(written)).get("qwen-image")?.offline).toBe(false);
	});

	test("an upstream that lists the name of a media model does not bring it", () => {
		const catalog = buildCatalog(inputsOf({ upstreams: { a: remote } }, { a: listed("qwen-image", "gpt-image-2", "gpt-x") }));
		expect(catalog.get("qwen-image")).toBeUndefined();
		expect(catalog.get("gpt-image-2")).toMatchObject({ type: "image", offline: true, targets: [] });
		expect(catalog.get("gpt-x")?.type).toBe("text");
	});

	test("hidden removes a model, wherever it comes from", () => {
		const entries = { [EMBEDDED_ID]: { hidden: true }, x: { hidden: true }, "tts-kokoro": { hidden: true } };
		const catalog = buildCatalog(inputsOf({ upstreams: { a: local }, models: { entries } }, { a: listed("x", "y") }));
		expect(catalog.list("text").map(({ id }) => id)).toEqual(["y"]);
		expect(catalog.list("tts")).toHaveLength(9);
	});

	test("a hidden model is gone for its compatibility names too", () => {
		const catalog = buildCatalog(inputsOf({ models: { entries: { "tts-kokoro": { hidden: true } } } }));
		expect(catalog.compatibilityMapping("tts")).toEqual({});
		expect(() => catalog.resolve("tts-1", "tts")).toThrow("Unknown model");
	});

	test("a model whose age nobody tells has the same `created` in every catalog of the process", () => {
		const written = { upstreams: { a: local }, models: { entries: { x: { upstreams: [{ upstream: "a" }] } } } };
		const created = [1, 2_000_000_000_000].map(
			(ms) => buildCatalog(inputsOf(written, {}, { wallMs: () => ms })).get("x")?.created,
		);
		expect(created[0]).toBeGreaterThan(1_700_000_000);
		expect(created[1]).toBe(created[0] ?? 0);
	});

	test("code lists the text models made for code", () => {
		const entries = { coder: { upstreams: [{ upstream: "a" }], capabilities: { optimizedForCode: true } } };
		const catalog = buildCatalog(inputsOf({ upstreams: { a: local }, models: { entries } }));
		expect(catalog.list("code").map(({ id }) => id)).toEqual(["coder"]);
	});

	test("a model that an upstream calls an embedding is offered for embeddings, not for chat", () => {
		const embedding: DiscoveredModel = {
			id: "nomic",
			type: "embedding",
			created: 5,
			contextTokens: 512,
			maxCompletionTokens: null,
		};
		const catalog = buildCatalog(inputsOf({ upstreams: { a: local } }, { a: [embedding] }));
		expect(catalog.get("nomic")).toMatchObject({ type: "embedding", offline: false });
		expect(catalog.resolve("nomic", "embedding").model.targets).toMatchObject([{ upstream: "a", model: "nomic" }]);
		expect(() => catalog.resolve("nomic", "text")).toThrow(ApiError);
	});
});

describe("who serves a model", () => {
	test("several upstreams that list an id become several targets", () => {
		const catalog = buildCatalog(inputsOf({ upstreams: { a: local, b: remote } }, { a: listed("x"), b: listed("x", "x") }));
		expect(catalog.get("x")?.targets).toEqual([
			{ upstream: "a", model: "x", weight: 1, order: 0 },
			{ upstream: "b", model: "x", weight: 1, order: 0 },
		]);
	});

	test("a configured model without upstreams is served by those that list it", () => {
		const written = { upstreams: { a: local, b: local }, models: { entries: { x: { price: { input: 1, output: 2 } } } } };
		const model = textModel(buildCatalog(inputsOf(written, { a: listed("y"), b: listed("x") })), "x");
		expect(model.targets.map(({ upstream }) => upstream)).toEqual(["b"]);
		expect(model.prices.input as number).toBe(1_000_000);
		expect(model.offline).toBe(false);
	});

	test("a configured model that no upstream lists is offline, and says how to bring it", () => {
		const written = { upstreams: { a: local, b: local }, models: { entries: { x: {} } } };
		const catalog = buildCatalog(inputsOf(written, { a: listed("y") }));
		expect(catalog.get("x")?.offline).toBe(true);
		expect(() => catalog.resolve("x", "text")).toThrow('models.entries["x"].upstreams');
	});

	test("a sole upstream whose list is unknown serves the configured models; once it is known, what it lists", () => {
		const written = { upstreams: { a: local }, models: { entries: { x: {} } } };
		expect(
			buildCatalog(inputsOf(written))
				.get("x")
				?.targets.map(({ upstream }) => upstream),
		).toEqual(["a"]);
		expect(buildCatalog(inputsOf(written, { a: [] })).get("x")?.offline).toBe(true);
	});

	test("what an upstream listed before it was taken out of discovery counts no more", () => {
		const written = { upstreams: { a: { ...local, discover: false } }, models: { entries: { x: {} } } };
		const catalog = buildCatalog(inputsOf(written, { a: listed("y") }));
		expect(catalog.get("y")).toBeUndefined();
		expect(catalog.get("x")).toMatchObject({ offline: false, targets: [{ upstream: "a", model: "x" }] });
	});

	test("configured targets keep their names, weights and order, and are the only ones", () => {
		const upstreams = [
			{ upstream: "a", model: "big", weight: 3 },
			{ upstream: "b", order: 1 },
		];
		const written = { upstreams: { a: local, b: local, c: local }, models: { entries: { x: { upstreams } } } };
		expect(buildCatalog(inputsOf(written, { c: listed("x") })).get("x")?.targets).toEqual([
			{ upstream: "a", model: "big", weight: 3, order: 0 },
			{ upstream: "b", model: "x", weight: 1, order: 1 },
		]);
	});

	test("an upstream's model that is sold under another name is not listed for free beside it", () => {
		const entries = { mine: { upstreams: [{ upstream: "a", model: "raw" }], price: { input: 1, output: 1 } } };
		const written = { upstreams: { a: local, b: local }, models: { entries } };
		const catalog = buildCatalog(inputsOf(written, { a: listed("raw", "other"), b: [] }));
		expect(
			catalog
				.list("text")
				.map(({ id }) => id)
				.sort(),
		).toEqual(["mine", "other", EMBEDDED_ID].sort());
		const elsewhere = buildCatalog(inputsOf(written, { a: listed("raw"), b: listed("raw") }));
		expect(elsewhere.get("raw")?.targets.map(({ upstream }) => upstream)).toEqual(["b"]);
	});

	test("a model with a cost and no price is sold at its cost times the highest multiplier of its upstreams", () => {
		const upstreams = { a: { ...local, priceMultiplier: 1.25 }, b: { ...local, priceMultiplier: 2 }, c: local };
		const cost = { input: 0.1, output: 0.4 };
		const sold = (names: readonly string[], more: object = {}) => {
			const entries = { x: { type: "text", cost, upstreams: names.map((upstream) => ({ upstream })), ...more } };
			const { prices } = textModel(buildCatalog(inputsOf({ upstreams, models: { entries } })), "x");
			return [prices.input, prices.output] as number[];
		};
		expect(sold(["a"])).toEqual([125_000, 500_000]);
		expect(sold(["a", "b"])).toEqual([200_000, 800_000]);
		expect(sold(["c"])).toEqual([100_000, 400_000]);
		expect(sold(["b"], { price: { input: 1, output: 1 } })).toEqual([1_000_000, 1_000_000]);
	});

	test("a cost may be set for every type of model, and makes a text model only of what has a cost of output", () => {
		const built = (entry: object, id = "x") => {
			const entries = { [id]: { upstreams: [{ upstream: "a" }], ...entry } };
			return buildCatalog(inputsOf({ upstreams: { a: remote }, models: { entries } })).get(id)?.type;
		};
		for (const type of ["tts", "asr", "image", "inpaint", "upscale"] as const)
			expect(built({ type, cost: { each: 1 } })).toBe(type);
		expect(built({ type: "embedding", cost: { input: 1 } })).toBe("embedding");
		expect(built({ cost: { each: 1 } }, "gpt-image-2")).toBe("image");
		expect(built({ cost: { input: 1, output: 2 } })).toBe("text");
	});

	test("the built-in engine may serve a model of the operator's name and price", () => {
		const entries = { tiny: { upstreams: [{ upstream: "embedded" }], price: { input: 0, output: 0 } } };
		expect(buildCatalog(inputsOf({ models: { entries } })).get("tiny")).toMatchObject({
			offline: false,
			targets: [{ upstream: "embedded", model: EMBEDDED_ID }],
			contextTokens: 4096,
		});
	});

	test("offline: true of the configuration holds whoever serves it", () => {
		const entries = { x: { offline: true, upstreams: [{ upstream: "a" }] } };
		const catalog = buildCatalog(inputsOf({ upstreams: { a: local }, models: { entries } }));
		expect(() => catalog.resolve("x", "text")).toThrow("switched it off");
	});
});

describe("the built-in model", () => {
	test("has honest capabilities, its prices and the context that the engine is set to", () => {
		const catalog = buildCatalog(inputsOf());
		const model = textModel(catalog, EMBEDDED_ID);
		expect(model.capabilities).toMatchObject({
			quantization: "int4",
			supportsResponseSchema: true,
			supportsFunctionCalling: false,
			supportsVision: false,
			supportsReasoning: false,
			supportsLogProbs: false,
		});
		expect([model.prices.input, model.prices.output] as number[]).toEqual([50_000, 100_000]);
		expect(model.contextTokens).toBe(4096);
		expect(model.public).toMatchObject({ context_length: 4096, owned_by: "service" });
		const large = buildCatalog(inputsOf({ chat: { embedded: { contextTokens: 32_768 } } }));
		expect(large.get(EMBEDDED_ID)).toMatchObject({ contextTokens: 8192 });
	});

	test("is not listed where the engine is off, and offline where it cannot run", () => {
		expect(buildCatalog(inputsOf({ chat: { embedded: { enabled: false } } })).list("text")).toEqual([]);
		const broken = buildCatalog(inputsOf({}, {}, { embeddedAvailable: false }));
		expect(broken.get(EMBEDDED_ID)?.offline).toBe(true);
		expect(() => broken.resolve("default", "text")).toThrow("turnpike doctor");
	});
});

test("an upstream that lists the built-in model goes first, the engine after it where it can run", () => {
	const upstreamsOf = (embeddedAvailable: boolean) =>
		buildCatalog(inputsOf({ upstreams: { a: local } }, { a: listed(EMBEDDED_ID) }, { embeddedAvailable }))
			.get(EMBEDDED_ID)
			?.targets.map(({ upstream, order }) => `${upstream} ${order}`);
	expect(upstreamsOf(true)).toEqual(["a 0", "embedded 1"]);
	expect(upstreamsOf(false)).toEqual(["a 0"]);
});

describe("traits and compatibility names", () => {
	test("default stays with the built-in model beside upstreams, until the configuration says otherwise", () => {
		const upstreams = { a: local };
		expect(buildCatalog(inputsOf({ upstreams }, { a: listed("x") })).traits("text")).toEqual({ default: EMBEDDED_ID });
		const byMap = buildCatalog(inputsOf({ upstreams, models: { traits: { text: { default: "x" } } } }, { a: listed("x") }));
		const byEntry = buildCatalog(
			inputsOf({ upstreams, models: { entries: { x: { traits: ["default"] } } } }, { a: listed("x") }),
		);
		for (const catalog of [byMap, byEntry]) {
			expect(catalog.traits("text")).toEqual({ default: "x" });
			expect(specOf(catalog, "x").traits).toEqual(["default"]);
			expect(specOf(catalog, EMBEDDED_ID).traits).toEqual([]);
		}
	});

	test("without the engine default goes to the first configured text model, else to the first listed", () => {
		const off = { chat: { embedded: { enabled: false } }, upstreams: { a: local, b: local } };
		const models = { entries: { z: { upstreams: [{ upstream: "b" }] } } };
		const discovered = { a: listed("x", "y") };
		expect(buildCatalog(inputsOf({ ...off, models }, discovered)).traits("text")).toEqual({ default: "z" });
		expect(buildCatalog(inputsOf(off, discovered)).traits("text")).toEqual({ default: "x" });
		const broken = inputsOf({ upstreams: off.upstreams }, discovered, { embeddedAvailable: false });
		expect(buildCatalog(broken).traits("text")).toEqual({ default: "x" });
	});

	test("a configured trait whose model is not there yet is a warning, and comes with it", () => {
		const written = {
			upstreams: { a: local },
			models: { traits: { text: { default: "x" } }, mappings: { text: { "gpt-4o": "x" } } },
		};
		const before = buildCatalog(inputsOf(written));
		expect(before.warnings.join()).toContain("models.traits.text.default");
		expect(before.traits("text")).toEqual({ default: EMBEDDED_ID });
		expect(before.compatibilityMapping("text")).toEqual({});
		const after = buildCatalog(inputsOf(written, { a: listed("x") }));
		expect(after.warnings).toEqual([]);
		expect(after.traits("text")).toEqual({ default: "x" });
		expect(after.compatibilityMapping("text")).toEqual({ "gpt-4o": "x" });
	});

	test("the names of OpenAI's speech models are there; the configuration overrides them", () => {
		expect(buildCatalog(inputsOf()).compatibilityMapping("tts")).toMatchObject({
			"tts-1": "tts-kokoro",
			"tts-1-hd": "tts-kokoro",
		});
		expect(buildCatalog(inputsOf()).compatibilityMapping("asr")).toMatchObject({ "whisper-1": "openai/whisper-large-v3" });
		const written = { models: { mappings: { tts: { "tts-1": "tts-orpheus" }, text: { "gpt-4o": "default" } } } };
		const catalog = buildCatalog(inputsOf(written));
		expect(catalog.compatibilityMapping("tts")["tts-1"]).toBe("tts-orpheus");
		expect(catalog.compatibilityMapping("text")).toEqual({ "gpt-4o": EMBEDDED_ID });
	});
});

describe("a discovered model", () => {
	const told: DiscoveredModel = {
		id: "x",
		type: "text",
		created: 1_700_000_000,
		contextTokens: 32_768,
		maxCompletionTokens: 2048,
	};

	test("is free; what is not known of it is shown as the specification says and refuses nothing", () => {
		const model = textModel(buildCatalog(inputsOf({ upstreams: { a: local } }, { a: listed("x") })), "x");
		expect([model.prices.input, model.prices.output] as number[]).toEqual([0, 0]);
		expect(model.capabilities).toMatchObject({ supportsVision: null, supportsFunctionCalling: null, supportsAudioInput: null });
		expect(model.public.model_spec).toMatchObject({
			capabilities: {
				supportsFunctionCalling: true,
				supportsResponseSchema: true,
				supportsVision: true,
				supportsMultipleImages: true,
				supportsReasoning: true,
				supportsReasoningEffort: true,
				supportsLogProbs: true,
				supportsAudioInput: false,
				supportsVideoInput: false,
				supportsTeeAttestation: false,
				supportsE2EE: false,
				supportsWebSearch: false,
				supportsXSearch: false,
			},
		});
		expect(model.contextTokens).toBeNull();
		expect(model.public).not.toHaveProperty("context_length");
		expect(model.public.model_spec).not.toHaveProperty("maxCompletionTokens");
	});

	test("shows what its server tells; of several servers the smallest context", () => {
		const catalog = buildCatalog(
			inputsOf({ upstreams: { a: local, b: local } }, { a: [told], b: [{ ...told, contextTokens: 8192 }] }),
		);
		expect(catalog.get("x")).toMatchObject({ contextTokens: 8192, maxCompletionTokens: 2048, created: 1_700_000_000 });
		expect(catalog.get("x")?.public).toMatchObject({ context_length: 8192, model_spec: { maxCompletionTokens: 2048 } });
	});

	test("takes what the configuration says of it", () => {
		const x = {
			contextTokens: 1000,
			capabilities: { supportsVision: false },
			price: { input: 1, output: 2, cacheInput: 0.5 },
			tier: "S",
		};
		const catalog = buildCatalog(inputsOf({ upstreams: { a: local }, models: { entries: { x } } }, { a: [told] }));
		expect(catalog.get("x")).toMatchObject({
			contextTokens: 1000,
			maxCompletionTokens: 2048,
			tier: "S",
			capabilities: { supportsVision: false, supportsMultipleImages: false, supportsFunctionCalling: null },
		});
		expect(specOf(catalog, "x").pricing).toEqual({
			input: { usd: 1, diem: 1 },
			output: { usd: 2, diem: 2 },
			cache_input: { usd: 0.5, diem: 0.5 },
		});
	});

	test("is private on this machine's network and anonymized beyond it", () => {
		const catalog = buildCatalog(
			inputsOf({ upstreams: { a: local, b: remote } }, { a: listed("x", "both"), b: listed("y", "both") }),
		);
		expect(["x", "y", "both"].map((id) => specOf(catalog, id).privacy)).toEqual(["private", "anonymized", "anonymized"]);
	});

	test("with an id like a member of Object's prototype is a model like any other", () => {
		const catalog = buildCatalog(inputsOf({ upstreams: { a: local } }, { a: listed("__proto__", "constructor", "toString") }));
		for (const id of ["__proto__", "constructor", "toString"]) expect(catalog.resolve(id, "text").model.id).toBe(id);
	});
});

describe("features that this service brings to models", () => {
	const grok = { type: "text", upstreams: [{ upstream: "x" }], capabilities: { supportsXSearch: true } };
	const upstreams = { a: local, x: { provider: "xai", key: "k" } };
	const capabilities = (entry: object, web: object = {}) =>
		textModel(buildCatalog(inputsOf({ upstreams, web, models: { entries: { m: entry } } })), "m").capabilities;

	test("every model has web search where a provider is set up, but those whose entry says no", () => {
		const plain = { type: "text", upstreams: [{ upstream: "a" }] };
		const search = { search: { searxng: { url: "http://localhost:8888" } } };
		expect(capabilities(plain).supportsWebSearch).toBe(false);
		expect(capabilities({ ...plain, capabilities: { supportsWebSearch: true } }).supportsWebSearch).toBe(false);
		expect(capabilities(plain, search).supportsWebSearch).toBe(true);
		expect(capabilities({ ...plain, capabilities: { supportsWebSearch: false } }, search).supportsWebSearch).toBe(false);
		expect(capabilities(plain, { search: { ...search.search, order: ["brave"] } }).supportsWebSearch).toBe(false);
		const embedded = buildCatalog(inputsOf({ web: search }));
		expect(textModel(embedded, EMBEDDED_ID).capabilities.supportsWebSearch).toBe(true);
	});

	test("a model has X search where its entry says so and all that serve it have it", () => {
		expect(capabilities(grok).supportsXSearch).toBe(true);
		expect(capabilities({ ...grok, upstreams: [{ upstream: "x" }, { upstream: "a" }] }).supportsXSearch).toBe(false);
		expect(capabilities({ ...grok, capabilities: {} }).supportsXSearch).toBe(false);
	});

	test("a model reads files itself where its entry says so", () => {
		const built = buildCatalog(inputsOf({ upstreams, models: { entries: { m: { ...grok, files: "native" }, n: grok } } }));
		expect([textModel(built, "m").readsFiles, textModel(built, "n").readsFiles]).toEqual([true, undefined]);
	});
});

describe("what upstreams tell of a model", () => {
	test("an embedding model that an upstream lists wins over the name for the built-in one", () => {
		const model: DiscoveredModel = {
			id: "text-embedding-3-small",
			type: "embedding",
			created: 1,
			contextTokens: null,
			maxCompletionTokens: null,
		};
		const catalog = buildCatalog(inputsOf({ upstreams: { a: remote } }, { a: [model] }));
		expect(catalog.resolve("text-embedding-3-small", "embedding").model.targets).toMatchObject([{ upstream: "a" }]);
	});

	test("counts where configuration and data files say nothing", () => {
		const capabilities = { supportsVision: false, supportsFunctionCalling: false, supportsReasoning: false };
		const of = (id: string): DiscoveredModel => ({
			id,
			type: "text",
			created: 1,
			contextTokens: null,
			maxCompletionTokens: null,
			capabilities,
		});
		const written = { upstreams: { a: remote }, models: { entries: { own: { capabilities: { supportsVision: true } } } } };
		const catalog = buildCatalog(inputsOf(written, { a: [of("told"), of("own")] }));
		expect(textModel(catalog, "told").capabilities).toMatchObject(capabilities);
		expect(textModel(catalog, "own").capabilities).toMatchObject({ ...capabilities, supportsVision: true });
		expect(specOf(catalog, "told").capabilities).toMatchObject(capabilities);
	});

	test("holds under the name of a configured model that is mapped to it", () => {
		const model: DiscoveredModel = { id: "theirs", type: "text", created: 1, contextTokens: 2048, maxCompletionTokens: null };
		const entries = { mine: { upstreams: [{ upstream: "a", model: "theirs" }] } };
		const catalog = buildCatalog(inputsOf({ upstreams: { a: remote }, models: { entries } }, { a: [model] }));
		expect(textModel(catalog, "mine").contextTokens).toBe(2048);
		expect(catalog.get("theirs")).toBeUndefined();
	});
});
