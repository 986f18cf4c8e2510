import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { picoPerUnit } from "../ledger/nano.ts";
import { CatalogError } from "./catalog-error.ts";
import { loadCatalogData, loadCharacterData } from "./load-data.ts";
import { DATA_DIR, data } from "./testing/config.ts";

const FILES = ["text-models.json", "media-models.json", "mappings.json", "characters.json"] as const;

/** A copy of the data folder with one file changed. */
function folderWith(file: (typeof FILES)[number], change: (text: string) => string): string {
	const dir = mkdtempSync(join(tmpdir(), "turnpike-catalog-"));
	for (const name of FILES) {
		const text = readFileSync(join(DATA_DIR, name), "utf8");
		writeFileSync(join(dir, name), name === file ? change(text) : text);
	}
	return dir;
}

function changed(file: (typeof FILES)[number], change: (json: never) => void): string {
	return folderWith(file, (text) => {
		const json = JSON.parse(text);
		change(json as never);
		return JSON.stringify(json);
	});
}

function faultOf(load: () => unknown): CatalogError {
	try {
		load();
	} catch (error) {
		if (error instanceof CatalogError) return error;
		throw error;
	}
	throw new Error("nothing was thrown");
}

const EDIT_MODELS =
	"firered-image-edit qwen-edit grok-imagine-edit grok-imagine-quality-edit qwen-image-2-edit qwen-image-2-pro-edit wan-2-7-pro-edit flux-2-max-edit gpt-image-2-edit gpt-image-1-5-edit nano-banana-2-edit nano-banana-pro-edit seedream-v5-lite-edit seedream-v4-edit".split(
		" ",
	);
const VOICES_OF: Record<string, number> = {
	"tts-kokoro": 54,
	"tts-qwen3-0-6b": 9,
	"tts-qwen3-1-7b": 9,
	"tts-xai-v1": 5,
	"tts-inworld-1-5-max": 14,
	"tts-chatterbox-hd": 9,
	"tts-orpheus": 8,
	"tts-elevenlabs-turbo-v2-5": 21,
	"tts-minimax-speech-02-hd": 15,
	"tts-gemini-3-1-flash": 30,
};

test("the listed edit models are the fourteen of the specification, and the one that runs here", () => {
	const edits = data.mediaModels.filter(({ type, listed }) => type === "inpaint" && listed).map(({ id }) => id);
	expect(edits.sort()).toEqual([...EDIT_MODELS, "local-edit"].sort());
});

test("the listed speech models are the ten of the specification, with 162 distinct voices in 174 pairs", () => {
	const speech = data.mediaModels.flatMap((model) => (model.type === "tts" && model.listed ? [model] : []));
	expect(Object.fromEntries(speech.map(({ id, voices }) => [id, voices.length]))).toEqual(VOICES_OF);
	const pairs = speech.flatMap(({ voices }) => voices);
	expect(pairs).toHaveLength(174);
	expect(new Set(pairs).size).toBe(162);
});

test("prices of the specification are kept exactly", () => {
	const priceOf = (id: string) => data.mediaModels.find((model) => model.id === id);
	expect(priceOf("qwen-edit")).toMatchObject({ price: { edit: 0.04 } });
	expect(priceOf("tts-kokoro")).toMatchObject({ price: { perMillionCharacters: 3.5 } });
	expect(priceOf("gpt-image-2-edit")).toMatchObject({
		constraints: { defaultQuality: "high" },
		price: { byQuality: { "1K": { low: 0.03, medium: 0.1, high: 0.36 }, "4K": { low: 0.06, medium: 0.22, high: 0.86 } } },
	});
});

test("every price converts to whole pico-USD per unit and back without loss", () => {
	const unitsOf: Record<string, number> = { perMillionCharacters: 1e6, perThousandCharacters: 1e3, input: 1e6, output: 1e6 };
	let prices = 0;
	const walk = (value: unknown, perUnits: number): void => {
		if (typeof value === "number") {
			prices++;
			expect((picoPerUnit(value, perUnits) * perUnits) / 1e12).toBe(value);
		} else if (typeof value === "object" && value !== null) {
			for (const [name, member] of Object.entries(value))
				if (!["included", "minSeconds", "maxSeconds"].includes(name)) walk(member, unitsOf[name] ?? perUnits);
		}
	};
	for (const model of [...data.textModels, ...data.mediaModels]) if (model.type !== "video") walk(model.price, 1);
	expect(prices).toBeGreaterThan(200);
});

test("a wrong value is told with its file, its path and what is expected", () => {
	const dir = changed("media-models.json", (json: { models: { price: Record<string, unknown> }[] }) => {
		const model = json.models[3];
		if (model) model.price = { edit: "cheap" };
	});
	const fault = faultOf(() => loadCatalogData(dir));
	expect(fault.source).toBe(join(dir, "media-models.json"));
	expect(fault.path).toBe("models[3].price.edit");
	expect(fault.message).toContain("must be number");
});

test("an unknown key stops the load", () => {
	const dir = changed("text-models.json", (json: { models: Record<string, unknown>[] }) => {
		Object.assign(json.models[0] ?? {}, { contxtTokens: 1 });
	});
	expect(faultOf(() => loadCatalogData(dir)).path).toBe("models[0].contxtTokens");
});

test("a type that does not exist is told at the model", () => {
	const dir = changed("media-models.json", (json: { models: { type: string }[] }) => {
		const model = json.models[0];
		if (model) model.type = "hologram";
	});
	const fault = faultOf(() => loadCatalogData(dir));
	expect(fault.path).toBe("models[0].type");
	expect(fault.message).toContain("inpaint");
});

test("an id may stand in the files once", () => {
	const dir = changed("media-models.json", (json: { models: { id: string }[] }) => {
		const [first, second] = json.models;
		if (first && second) second.id = first.id;
	});
	expect(faultOf(() => loadCatalogData(dir)).message).toContain("models[1].id");
});

test("a music model has exactly one kind of price", () => {
	const dir = changed("media-models.json", (json: { models: { type: string; price?: object }[] }) => {
		for (const model of json.models) if (model.type === "music") model.price = { generation: 1, perSecond: 1 };
	});
	expect(faultOf(() => loadCatalogData(dir)).path).toMatch(/^models\[\d+\]\.price/);
});

test("a default voice must be a voice of its model", () => {
	const dir = changed("media-models.json", (json: { models: { id: string; defaultVoice?: string }[] }) => {
		const kokoro = json.models.find(({ id }) => id === "tts-kokoro");
		if (kokoro) kokoro.defaultVoice = "nobody";
	});
	expect(faultOf(() => loadCatalogData(dir)).path).toMatch(/^models\[\d+\]\.defaultVoice$/);
});

test("a compatibility name must lead to a model of its type", () => {
	const dir = changed("mappings.json", (json: { mappings: { tts: Record<string, string> } }) => {
		json.mappings.tts["tts-2"] = "qwen-edit";
	});
	expect(faultOf(() => loadCatalogData(dir)).path).toBe("mappings.tts.tts-2");
});

test.each([
	["cut off", (text: string) => text.slice(0, text.length / 2), "is not JSON"],
	["empty", () => "", "is not JSON"],
	["of another shape", () => "[]", "must be object"],
])("a data file that is %s is told by name", (_, change, problem) => {
	const fault = faultOf(() => loadCatalogData(folderWith("characters.json", change)));
	expect(fault.message).toContain("characters.json");
	expect(fault.message).toContain(problem);
});

test("a missing folder is told by the file that is missing", () => {
	const fault = faultOf(() => loadCatalogData(join(tmpdir(), "turnpike-no-such-folder")));
	expect(fault.message).toContain("text-models.json: cannot be read");
});

test("an operator's characters are held to the same schema and to one of each slug", () => {
	const dir = changed("characters.json", (json: { characters: { slug: string }[] }) => {
		for (const character of json.characters) character.slug = "same";
	});
	expect(faultOf(() => loadCharacterData(join(dir, "characters.json"))).path).toBe("characters[1].slug");
});
