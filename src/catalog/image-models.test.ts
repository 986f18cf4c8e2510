import { describe, expect, test } from "bun:test";
import { buildCatalog } from "./build-catalog.ts";
import { imagePrice } from "./image-model.ts";
import { largestSize, nearestRatio, tierSize } from "./image-size.ts";
import { inputsOf } from "./testing/config.ts";
import type { ImageQuality, PictureModel } from "./types.ts";

const remote = { url: "http://10.0.0.5:8000/v1" };
const target = [{ upstream: "gpu" }];

function modelOf(id: string, entry: object = {}): PictureModel {
	const written = { upstreams: { gpu: remote }, models: { entries: { [id]: { upstreams: target, ...entry } } } };
	const model = buildCatalog(inputsOf(written, {}, { imagesAvailable: true })).get(id);
	if (model?.type !== "inpaint" && model?.type !== "image") throw new Error(`${id} is no model of pictures`);
	return model;
}

const usd = (model: PictureModel, resolution: string, quality: ImageQuality | null = model.image.defaultQuality) =>
	imagePrice(model.image.prices, resolution, quality) / 1e12;

describe("prices", () => {
	test("quality by resolution wins over the older table of resolutions", () => {
		const model = modelOf("gpt-image-2-edit");
		expect([usd(model, "1K"), usd(model, "2K", "low"), usd(model, "4K"), usd(model, "4K", "medium")]).toEqual([
			0.36, 0.04, 0.86, 0.22,
		]);
	});

	test("by resolution, or one price for all", () => {
		expect(usd(modelOf("nano-banana-pro-edit"), "4K")).toBe(0.35);
		expect(usd(modelOf("qwen-edit"), "1K")).toBe(0.04);
		expect(usd(modelOf("wan-2-7-pro-edit"), "2K")).toBe(0.094);
	});

	test("the operator's price takes the place of the catalog's whole table, and its surcharge", () => {
		const model = modelOf("qwen-image-3-edit", { image: { usd: 0.5 } });
		expect(usd(model, "2K")).toBe(0.5);
		expect(model.image.prices.extraImage).toBeNull();
		expect<object | null>(modelOf("qwen-image-3-edit").image.prices.extraImage).toEqual({ included: 0, each: 3_450_000_000 });
		expect((model.public.model_spec as { pricing: object }).pricing).toEqual({ inpaint: { usd: 0.5, diem: 0.5 } });
	});

	test("a tier without a price of its own costs what the dearest does", () => {
		const model = modelOf("own", {
			type: "inpaint",
			image: { resolutions: ["1K", "2K"], byResolution: { "1K": 0.02 }, extraImage: { included: 1, each: 0.01 } },
		});
		expect(usd(model, "2K")).toBe(0.02);
		expect<object | null>(model.image.prices.extraImage).toEqual({ included: 1, each: 10_000_000_000 });
	});
});

describe("models", () => {
	test("the fourteen are offline without an upstream, and say which line brings it and what edits without one", () => {
		const catalog = buildCatalog(inputsOf({}, {}, { imagesAvailable: true }));
		expect(catalog.get("qwen-edit")?.offlineReason).toContain('models.entries["qwen-edit"].upstreams');
		expect(catalog.get("qwen-edit")?.offlineReason).toContain("local-edit");
		expect(catalog.get("local-edit")).toMatchObject({ offline: false, targets: [{ upstream: "embedded" }] });
		expect(catalog.get("upscaler")).toMatchObject({ offline: false, upscale: { x2: 20_000_000_000, x4: 80_000_000_000 } });
	});

	test("what the catalog tells of a known model stays as it is where the operator writes nothing", () => {
		const plain = buildCatalog(inputsOf()).get("gpt-image-2-edit")?.public.model_spec as Record<string, unknown>;
		const mapped = modelOf("gpt-image-2-edit").public.model_spec as Record<string, unknown>;
		expect([mapped.pricing, mapped.constraints]).toEqual([plain.pricing, plain.constraints]);
	});

	test.each([
		[{ type: "tts", speech: { voices: ["a"] }, image: { usd: 1 } }, "belongs to models of type"],
		[{ type: "inpaint", image: { resolutions: ["1K"], defaultResolution: "2K" } }, "none of the model's resolutions"],
		[{ type: "inpaint", image: { qualities: ["low"], defaultQuality: "high" } }, "none of the model's qualities"],
	])("a configuration that contradicts itself is refused", (entry, text) =>
		expect(() => buildCatalog(inputsOf({ upstreams: { gpu: remote }, models: { entries: { own: entry } } }))).toThrow(text),
	);
});

describe("sizes", () => {
	test("auto is the ratio that cuts least", () => {
		const ratios = ["auto", "1:1", "3:2", "16:9", "9:16"];
		expect(nearestRatio(ratios, { width: 4000, height: 3000 })).toBe("3:2");
		expect(nearestRatio(ratios, { width: 1080, height: 2400 })).toBe("9:16");
		expect(nearestRatio(["auto"], { width: 10, height: 10 })).toBeNull();
	});

	test("a tier is its area in the ratio, each side a multiple of 16", () => {
		expect(tierSize("1K", { width: 1, height: 1 })).toEqual({ width: 1024, height: 1024 });
		expect(tierSize("1K", { width: 3, height: 2 })).toEqual({ width: 1248, height: 832 });
		expect(tierSize("2K", { width: 16, height: 9 })).toEqual({ width: 2736, height: 1536 });
		expect(tierSize("4K", { width: 9, height: 16 })).toEqual({ width: 3072, height: 5456 });
	});

	test("the largest size of a ratio", () => {
		expect(largestSize({ width: 3, height: 2 }, 600)).toEqual({ width: 30, height: 20 });
		expect(largestSize({ width: 4000, height: 3001 }, 33_177_600)).toEqual({ width: 6649, height: 4989 });
	});
});
