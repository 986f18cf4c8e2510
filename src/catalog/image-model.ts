/** The properties of image models: the catalog's data, overridden by the operator's settings. */
import type { ModelEntry } from "../config/index.ts";
import { type PicoPrice, pico } from "../ledger/nano.ts";
import type { EditModelData, ImageModelData, MediaModelData } from "./data-schema.ts";
import { pricePair } from "./media-model.ts";
import { callPrice } from "./prices.ts";
import type { ImagePrices, ImageProperties, ImageQuality, UpscaleProperties } from "./types.ts";

const ALL_RATIOS = ["auto", "1:1", "3:2", "16:9", "21:9", "9:16", "2:3", "3:4", "4:5"];
/** The longest prompt that the image routes accept. */
const MAX_EDIT_PROMPT = 32_768;
const MAX_GENERATE_PROMPT = 7_500;
const DEFAULT_UPSCALE = { "2x": 0.02, "4x": 0.08 };
const USD_PER_PICO = 1e-12;

/** Returns the properties of a model that edits or generates images. */
export function imageProperties(
	type: "inpaint" | "image",
	entry: ModelEntry | undefined,
	data: MediaModelData | undefined,
): ImageProperties {
	const edit = data?.type === "inpaint" ? data : undefined;
	const image = data?.type === "image" ? data : undefined;
	const own = entry?.image;
	const catalogValues = (edit ?? image)?.constraints;
	const resolutions = own?.resolutions ?? catalogValues?.resolutions ?? [];
	const qualities = own?.qualities ?? catalogValues?.qualities ?? [];
	return {
		// The size of a known image model without ratios is in pixels.
		aspectRatios: own?.aspectRatios ?? catalogValues?.aspectRatios ?? (type === "image" ? [] : ALL_RATIOS),
		defaultAspectRatio: image?.constraints.defaultAspectRatio ?? null,
		resolutions,
		defaultResolution: own?.defaultResolution ?? inside(catalogValues?.defaultResolution, resolutions) ?? resolutions[0] ?? "1K",
		qualities,
		defaultQuality: own?.defaultQuality ?? inside(catalogValues?.defaultQuality, qualities) ?? qualities.at(-1) ?? null,
		promptCharacterLimit:
			own?.promptCharacterLimit ??
			catalogValues?.promptCharacterLimit ??
			(type === "image" ? MAX_GENERATE_PROMPT : MAX_EDIT_PROMPT),
		combinesImages: edit?.constraints.combineImages ?? true,
		maxSteps: image?.constraints.steps.max ?? null,
		sizeDivisor: image?.constraints.widthHeightDivisor ?? 1,
		prices: imagePrices(entry, edit, image),
	};
}

function inside<T extends string>(value: T | undefined, list: readonly string[]): T | undefined {
	return value !== undefined && list.includes(value) ? value : undefined;
}

/** Returns the prices of a model. A price of the operator replaces the catalog's with all its surcharges. */
function imagePrices(
	entry: ModelEntry | undefined,
	edit: EditModelData | undefined,
	image: ImageModelData | undefined,
): ImagePrices {
	const own = entry?.image;
	const isOwn = own?.usd !== undefined || own?.byResolution !== undefined || own?.byQuality !== undefined;
	const catalogValues = isOwn ? undefined : (edit?.price ?? image?.price);
	const byQuality = own?.byQuality ?? catalogValues?.byQuality ?? {};
	const extra = own?.extraImage ?? (isOwn ? undefined : edit?.price.extraImage);
	return {
		base: callPrice(own?.usd ?? (isOwn ? 0 : (edit?.price.edit ?? image?.price.generation ?? 0))),
		byResolution: picoPrices(own?.byResolution ?? catalogValues?.byResolution ?? {}),
		byQuality: Object.fromEntries(Object.entries(byQuality).map(([resolution, levels]) => [resolution, picoPrices(levels)])),
		extraImage: extra === undefined ? null : { included: extra.included, each: callPrice(extra.each) },
	};
}

function picoPrices(usd: Readonly<Partial<Record<string, number>>>): Record<string, PicoPrice> {
	return Object.fromEntries(
		Object.entries(usd).flatMap(([name, amount]) => (amount === undefined ? [] : [[name, callPrice(amount)]])),
	);
}

/**
 * Returns the price of one image: by quality if the model has qualities, else by resolution, else its only price. A tier
 * without a price costs the same as the most expensive one.
 */
export function imagePrice(prices: ImagePrices, resolution: string, quality: ImageQuality | null): PicoPrice {
	const byQuality = Object.entries(prices.byQuality);
	if (byQuality.length > 0) {
		const levels = prices.byQuality[resolution] ?? {};
		return (quality === null ? undefined : levels[quality]) ?? dearest(byQuality.flatMap(([, all]) => Object.values(all)));
	}
	const tiers = Object.values(prices.byResolution);
	return tiers.length > 0 ? (prices.byResolution[resolution] ?? dearest(tiers)) : prices.base;
}

function dearest(prices: readonly PicoPrice[]): PicoPrice {
	return pico(Math.max(...prices));
}

export function upscaleProperties(entry: ModelEntry | undefined, data: MediaModelData | undefined): UpscaleProperties {
	const usd = { ...DEFAULT_UPSCALE, ...(data?.type === "upscale" ? data.price.upscale : {}), ...entry?.image?.upscale };
	return { x2: callPrice(usd["2x"]), x4: callPrice(usd["4x"]) };
}

/** Returns the members of `model_spec` of an image or inpaint model that the operator set or changed. */
export function ownImageSpec(type: "inpaint" | "image", properties: ImageProperties): Record<string, unknown> {
	const { prices } = properties;
	const pairs = (map: Readonly<Record<string, PicoPrice>>) =>
		Object.fromEntries(Object.entries(map).map(([name, price]) => [name, pricePair(usdOf(price))]));
	const byQuality = Object.entries(prices.byQuality);
	return {
		constraints: {
			...(properties.aspectRatios.length > 0 && { aspectRatios: properties.aspectRatios }),
			promptCharacterLimit: properties.promptCharacterLimit,
			...(type === "inpaint" && { combineImages: properties.combinesImages }),
			...(type === "image" && { widthHeightDivisor: properties.sizeDivisor }),
			...(properties.resolutions.length > 0 && {
				resolutions: properties.resolutions,
				defaultResolution: properties.defaultResolution,
			}),
			...(properties.defaultQuality !== null && { qualities: properties.qualities, defaultQuality: properties.defaultQuality }),
		},
		pricing: {
			[type === "inpaint" ? "inpaint" : "generation"]: pricePair(
				usdOf(imagePrice(prices, properties.defaultResolution, properties.defaultQuality)),
			),
			...(Object.keys(prices.byResolution).length > 0 && { resolutions: pairs(prices.byResolution) }),
			...(byQuality.length > 0 && { quality: Object.fromEntries(byQuality.map(([name, levels]) => [name, pairs(levels)])) }),
			...(prices.extraImage && {
				inputImages: { included: prices.extraImage.included, additional: pricePair(usdOf(prices.extraImage.each)) },
			}),
		},
	};
}

export function ownUpscaleSpec({ x2, x4 }: UpscaleProperties): Record<string, unknown> {
	return { pricing: { generation: pricePair(usdOf(x2)), upscale: { "2x": pricePair(usdOf(x2)), "4x": pricePair(usdOf(x4)) } } };
}

function usdOf(price: PicoPrice): number {
	return Number((price * USD_PER_PICO).toFixed(12));
}
