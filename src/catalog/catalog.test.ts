import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { ApiError } from "../errors/index.ts";
import { buildCatalog } from "./build-catalog.ts";
import { inputsOf, listed } from "./testing/config.ts";
import { MODEL_TYPES } from "./types.ts";

const upstreams = { a: { url: "http://127.0.0.1:1/v1" } };
const DAY = 86_400_000;
const NOW = Date.parse("2026-06-15T00:00:00Z");
const instant = (ms: number) => new Date(ms).toISOString();

function catalogOf(models: Record<string, unknown>, ...ids: string[]) {
	return buildCatalog(inputsOf({ upstreams, models }, { a: listed(...ids) }, { wallMs: () => NOW }));
}

function errorOf(call: () => unknown): ApiError {
	try {
		call();
	} catch (error) {
		if (error instanceof ApiError) return error;
		throw error;
	}
	throw new Error("nothing was thrown");
}

describe("a reference is put to", () => {
	const catalog = catalogOf(
		{
			traits: { text: { fastest: "llama3.2:1b" } },
			mappings: { text: { "gpt-4o": "llama3.2:1b", "vendor/x:latest": "org/model" } },
		},
		"llama3.2:1b",
		"org/model",
		"odd:enable_web_search=on",
		"odd",
		"service-lamp",
		"lamp",
		"a&b=c",
	);
	const idOf = (ref: string) => catalog.resolve(ref, "text").model.id;

	test("an id, also with colons and slashes", () => {
		for (const id of ["llama3.2:1b", "org/model", "a&b=c"]) expect(idOf(id)).toBe(id);
	});

	test("a trait or a compatibility name of the type", () => {
		expect(idOf("fastest")).toBe("llama3.2:1b");
		expect(idOf("gpt-4o")).toBe("llama3.2:1b");
		expect(idOf("vendor/x:latest")).toBe("org/model");
		expect(errorOf(() => catalog.resolve("fastest", "tts")).code).toBe("MODEL_NOT_FOUND");
	});

	test("the whole text as an id before a suffix is split off", () => {
		expect(catalog.resolve("odd:enable_web_search=on", "text")).toMatchObject({
			model: { id: "odd:enable_web_search=on" },
			suffix: {},
		});
		expect(catalog.resolve("odd:enable_web_search=off", "text")).toMatchObject({
			model: { id: "odd" },
			suffix: { enable_web_search: "off" },
		});
	});

	test("the name before the last colon, with the options after it", () => {
		expect(catalog.resolve("llama3.2:1b:enable_web_search=on&strip_thinking_response=true", "text")).toMatchObject({
			model: { id: "llama3.2:1b" },
			suffix: { enable_web_search: "on", strip_thinking_response: true },
		});
		expect(catalog.resolve("gpt-4o:web", "text").suffix).toEqual({ enable_web_search: "on" });
	});

	test("the name without the prefix `service-`, where it is not known with it", () => {
		expect(idOf("service-lamp")).toBe("service-lamp");
		expect(idOf("service-org/model")).toBe("org/model");
		expect(catalog.resolve("service-fastest:disable_thinking=true", "text")).toMatchObject({
			model: { id: "llama3.2:1b" },
			suffix: { disable_thinking: true },
		});
		expect(errorOf(() => idOf("service-")).code).toBe("MODEL_NOT_FOUND");
	});

	test("nothing where it is unknown: 404 that names it", () => {
		for (const ref of ["nope", "llama3.2", "llama3.2:1b:2b", "", ":", "::", ":web", "text:default", "nope:web"]) {
			const error = errorOf(() => idOf(ref));
			expect([ref, error.code, error.status, error.options.param]).toEqual([ref, "MODEL_NOT_FOUND", 404, "model"]);
		}
		expect(errorOf(() => idOf("nope")).message).toContain('"nope"');
	});

	test("400 where a suffix has a bad value", () => {
		const error = errorOf(() => idOf("llama3.2:1b:enable_web_search=maybe"));
		expect([error.code, error.status, error.options.param]).toEqual(["INVALID_REQUEST", 400, "model"]);
	});

	test("400 INVALID_MODEL where the model is of another type, with or without a suffix", () => {
		for (const ref of ["tts-kokoro", "tts-kokoro:web"]) expect(errorOf(() => idOf(ref)).code).toBe("INVALID_MODEL");
		expect(errorOf(() => catalog.resolve("lamp", "tts")).message).toContain("type text");
	});

	test("503 MODEL_OFFLINE that names the line of the configuration", () => {
		const error = errorOf(() => catalog.resolve("tts-1", "tts"));
		expect([error.code, error.status]).toEqual(["MODEL_OFFLINE", 503]);
		expect(error.message).toContain('models.entries["tts-kokoro"].upstreams');
	});

	test("503 where a compatibility name leads to a model of the data files that is not listed", () => {
		expect(errorOf(() => catalog.resolve("whisper-1", "asr")).message).toContain('models.entries["openai/whisper-large-v3"]');
	});
});

describe("hostile references", () => {
	const catalog = catalogOf({ traits: { text: { fastest: "x" } } }, "x", "a:b/c");
	const known = ["x", "a:b/c", "default", "tts-kokoro", "service-", "__proto__", "constructor"];
	const pieces = [
		":",
		"&",
		"=",
		"web",
		"enable_web_search",
		"on",
		"true",
		"%",
		"%E0%A4%A",
		"character_slug",
		"disable_thinking",
		"\0",
		"💥",
	];

	test("never throw anything but ApiError", () => {
		const ref = fc.oneof(
			fc.string(),
			fc.string({ unit: "binary" }),
			fc.array(fc.constantFrom(...known, ...pieces), { maxLength: 12 }).map((parts) => parts.join("")),
		);
		fc.assert(
			fc.property(ref, fc.constantFrom(...MODEL_TYPES), (text, type) => {
				try {
					expect(catalog.resolve(text, type).model.type).toBe(type);
				} catch (error) {
					expect(error).toBeInstanceOf(ApiError);
					expect([400, 404, 503]).toContain((error as ApiError).status);
				}
			}),
			{ numRuns: 3000 },
		);
	});

	test("of a megabyte are refused with a short text", () => {
		for (const unit of ["x", ":", "&", "=", "enable_web_search=on&", "%41"]) {
			const error = errorOf(() => catalog.resolve(`x:${unit.repeat(1_000_000 / unit.length)}`, "text"));
			expect(error.code).toBe("MODEL_NOT_FOUND");
			expect(error.message.length).toBeLessThan(300);
		}
	});
});

describe("a deprecated model", () => {
	const entry = (deprecation: Record<string, unknown>) => ({ upstreams: [{ upstream: "a" }], deprecation });
	const gone = { date: instant(NOW - DAY), removesAt: instant(NOW - DAY) };
	const soon = { date: instant(NOW + DAY), removesAt: instant(NOW + DAY) };

	test("works during its notice, with headers that warn from startsAt on", () => {
		const catalog = catalogOf(
			{ entries: { old: entry({ ...soon, autoRemap: true, startsAt: instant(NOW - 1), replacementModelId: "new" }) } },
			"new",
		);
		const { model } = catalog.resolve("old", "text");
		expect(catalog.get("old")?.public.model_spec).toMatchObject({ deprecation: { autoRemap: true, replacementModelId: "new" } });
		expect(catalog.deprecationHeaders(model)).toEqual({
			"X-Service-Model-Deprecation-Warning": `The model old is removed at ${soon.removesAt}; use new`,
			"X-Service-Model-Deprecation-Date": soon.date,
		});
		expect(catalog.deprecationHeaders(model, NOW - 2)).toEqual({});
		expect(catalog.deprecationHeaders(catalog.resolve("new", "text").model)).toEqual({});
	});

	test("past its end leaves the list and answers with its replacement", () => {
		const catalog = catalogOf({ entries: { old: entry({ ...gone, autoRemap: true, replacementModelId: "new" }) } }, "new");
		expect(catalog.list("text").map(({ id }) => id)).not.toContain("old");
		expect(catalog.get("old")).toBeUndefined();
		const resolved = catalog.resolve("old:disable_thinking=true", "text");
		expect(resolved).toMatchObject({
			model: { id: "new" },
			suffix: { disable_thinking: true },
			remappedFrom: "old",
		});
		expect(catalog.deprecationHeaders(resolved.model)).toEqual({});
		expect(catalog.deprecationHeaders(resolved.model, NOW, resolved.remappedFrom)).toEqual({
			"X-Service-Model-Deprecation-Warning": `The model old was removed at ${gone.removesAt}; use new`,
			"X-Service-Model-Deprecation-Date": gone.date,
		});
	});

	test("past its end without a replacement is 410", () => {
		const entries = {
			plain: entry({ ...gone, autoRemap: false, replacementModelId: "new" }),
			orphan: entry({ ...gone, autoRemap: true, replacementModelId: "never" }),
			ring: entry({ ...gone, autoRemap: true, replacementModelId: "ring2" }),
			ring2: entry({ ...gone, autoRemap: true, replacementModelId: "ring" }),
		};
		const catalog = catalogOf({ entries }, "new");
		for (const id of Object.keys(entries)) {
			const error = errorOf(() => catalog.resolve(id, "text"));
			expect([id, error.code, error.status]).toEqual([id, "MODEL_REMOVED", 410]);
		}
		expect(catalog.warnings.join()).toContain('"never"');
	});

	test("is followed along several replacements, also to a trait", () => {
		const entries = {
			one: entry({ ...gone, autoRemap: true, replacementModelId: "two" }),
			two: entry({ ...gone, autoRemap: true, replacementModelId: "fastest" }),
		};
		const catalog = catalogOf({ entries, traits: { text: { fastest: "new" } } }, "new");
		expect(catalog.resolve("one", "text").model.id).toBe("new");
	});

	test("hands its traits and compatibility names to its replacement", () => {
		const old = { ...entry({ ...gone, autoRemap: true, replacementModelId: "new" }), traits: ["fastest"] };
		const catalog = catalogOf({ entries: { old }, mappings: { text: { "gpt-4o": "old" } } }, "new");
		expect(catalog.traits("text")).toMatchObject({ fastest: "new" });
		expect(catalog.compatibilityMapping("text")).toEqual({ "gpt-4o": "new" });
		expect(catalog.resolve("fastest", "text").model.id).toBe("new");
	});

	test("past its end gives way to a compatibility name of the same text", () => {
		const catalog = catalogOf(
			{ entries: { old: entry({ ...gone, autoRemap: false }) }, mappings: { text: { old: "new" } } },
			"new",
		);
		expect(catalog.resolve("old", "text").model.id).toBe("new");
	});

	test("is removed at the very instant that it names", () => {
		const catalog = catalogOf({ entries: { old: entry({ autoRemap: false, date: instant(NOW), removesAt: instant(NOW) }) } });
		expect(catalog.resolve("old", "text", NOW - 1).model.id).toBe("old");
		expect(errorOf(() => catalog.resolve("old", "text", NOW)).code).toBe("MODEL_REMOVED");
	});

	test("with a name beyond ASCII still gives headers that HTTP can carry", () => {
		const catalog = catalogOf({ entries: { "modèle-é💥": entry({ ...soon, autoRemap: false }) } });
		const headers = catalog.deprecationHeaders(catalog.resolve("modèle-é💥", "text").model);
		expect(new Headers(headers).get("x-service-model-deprecation-warning")).toContain("mod?le-?");
	});
});
