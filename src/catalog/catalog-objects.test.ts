import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { lineNano } from "../ledger/nano.ts";
import { checker } from "../schema/index.ts";
import { ModelSchema } from "./answers.ts";
import { buildCatalog } from "./build-catalog.ts";
import { CatalogError } from "./catalog-error.ts";
import { DATA_DIR, data, inputsOf, listed } from "./testing/config.ts";
import type { TextModel } from "./types.ts";

const EMBEDDED_ID = "smollm2-135m-instruct";
const local = { url: "http://127.0.0.1:1/v1" };

function textModel(catalog: ReturnType<typeof buildCatalog>, id: string): TextModel {
	const model = catalog.get(id);
	if (model?.type !== "text") throw new Error(`${id} is no text model`);
	return model;
}

function specOf(catalog: ReturnType<typeof buildCatalog>, id: string): Record<string, unknown> {
	return catalog.get(id)?.public.model_spec as Record<string, unknown>;
}

function faultOf(build: () => unknown): string {
	try {
		build();
	} catch (error) {
		if (error instanceof CatalogError) return error.message;
		throw error;
	}
	throw new Error("nothing was thrown");
}

describe("the public objects", () => {
	const everything = () => {
		const upstreams = { a: local };
		const entries = Object.fromEntries(data.mediaModels.map(({ id }) => [id, { upstreams: [{ upstream: "a" }] }]));
		return buildCatalog(inputsOf({ upstreams, models: { entries } }, { a: listed("x") }));
	};

	test("fit their schema, for every model of the data files", () => {
		const model = checker(ModelSchema);
		expect(everything().list("all")).toHaveLength(data.mediaModels.length + 2);
		for (const { public: shown } of everything().list("all")) expect(model.issues(shown)).toEqual([]);
	});

	test("have required members of their type", () => {
		const required: Record<string, string[]> = {
			text: ["capabilities", "constraints", "pricing"],
			tts: ["voices", "supported_formats", "default_format", "capabilities", "pricing"],
			asr: ["pricing"],
			image: ["constraints", "pricing"],
			inpaint: ["constraints", "pricing"],
			upscale: ["pricing"],
			music: ["pricing"],
			video: ["constraints"],
		};
		for (const { type, public: shown } of everything().list("all"))
			for (const member of required[type] ?? []) expect(shown.model_spec).toHaveProperty(member);
	});

	test("give every amount as an equal pair of usd and diem, and no model of type video a price", () => {
		let pairs = 0;
		const walk = (value: unknown): void => {
			if (typeof value !== "object" || value === null) return;
			if ("usd" in value) {
				pairs++;
				expect((value as { diem?: unknown }).diem).toBe(value.usd);
			}
			for (const member of Object.values(value)) walk(member);
		};
		for (const { type, public: shown } of everything().list("all")) {
			walk(shown);
			if (type === "video") expect(shown.model_spec).not.toHaveProperty("pricing");
		}
		expect(pairs).toBeGreaterThan(200);
	});

	test("cannot be changed", () => {
		const model = buildCatalog(inputsOf()).get("tts-kokoro");
		expect(() => (specOf(buildCatalog(inputsOf()), "tts-kokoro").voices as string[]).push("x")).toThrow(TypeError);
		expect(Object.isFrozen(model?.public)).toBe(true);
	});

	test("show the prices that are charged", () => {
		const price = {
			input: 0.15,
			output: 0.6,
			extended: { contextTokenThreshold: 200_000, input: 0.3, output: 1.2, cacheInput: 0.03 },
		};
		const catalog = buildCatalog(
			inputsOf({ upstreams: { a: local }, models: { entries: { x: { price } } } }, { a: listed("x") }),
		);
		expect(specOf(catalog, "x").pricing).toMatchObject({
			input: { usd: 0.15 },
			output: { usd: 0.6 },
			extended: { context_token_threshold: 200_000, input: { usd: 0.3 }, cache_input: { usd: 0.03 }, output: { usd: 1.2 } },
		});
		expect(lineNano(1_000_000, textModel(catalog, "x").prices.output) as number).toBe(600_000_000);
	});

	test("hold no character's prompt and nothing of the data files' own form", () => {
		const text = JSON.stringify(
			everything()
				.list("all")
				.map((model) => model.public),
		);
		expect(text).not.toContain('"listed"');
		expect(readFileSync(join(DATA_DIR, "media-models.json"), "utf8")).toContain('"listed"');
	});
});

describe("a configuration that contradicts itself is refused with its path", () => {
	const upstreams = { a: local };
	test.each([
		[
			"an unknown upstream",
			{ models: { entries: { x: { upstreams: [{ upstream: "b" }] } } } },
			"models.entries.x.upstreams[0].upstream",
		],
		["the reserved name", { upstreams: { embedded: local } }, "upstreams.embedded"],
		[
			"another type than the data's",
			{ models: { entries: { "tts-kokoro": { type: "text" } } } },
			"models.entries.tts-kokoro.type",
		],
		["a text member elsewhere", { models: { entries: { "tts-kokoro": { tier: "S" } } } }, "models.entries.tts-kokoro.tier"],
		["an unknown tier", { models: { entries: { x: { tier: "XXL" } } } }, "models.entries.x.tier"],
		["an unknown type of traits", { models: { traits: { speech: {} } } }, "models.traits.speech"],
		["a trait on a wrong type", { models: { traits: { text: { default: "tts-kokoro" } } } }, "models.traits.text.default"],
		["a mapping to a wrong type", { models: { mappings: { tts: { a: EMBEDDED_ID } } } }, "models.mappings.tts.a"],
		[
			"a day that does not exist",
			{
				models: {
					entries: { x: { deprecation: { autoRemap: false, date: "2026-13-01T00:00:00Z", removesAt: "2026-12-01T00:00:00Z" } } },
				},
			},
			"models.entries.x.deprecation.date",
		],
		[
			"transcription on a built-in engine",
			{ models: { entries: { "openai/whisper-large-v3": { upstreams: [{ upstream: "embedded" }] } } } },
			"models.entries.openai/whisper-large-v3.upstreams[0].upstream",
		],
		["voices of a chat model", { models: { entries: { x: { speech: { voices: ["a"] } } } } }, "models.entries.x.speech"],
		[
			"a default that is none of the voices",
			{ models: { entries: { "tts-kokoro": { speech: { defaultVoice: "nobody" } } } } },
			"models.entries.tts-kokoro.speech.defaultVoice",
		],
	])("%s", (_, written, path) => {
		expect(faultOf(() => buildCatalog(inputsOf({ upstreams, ...written })))).toContain(`config: ${path}: `);
	});
});
