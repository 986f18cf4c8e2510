/** Checks a caller's choice of tiers against the model's. */
import { type ImageSize, largestSize, nearestRatio, ratioOf, tierSize } from "../../catalog/index.ts";
import type { ImageProperties, ImageQuality } from "../../catalog/types.ts";
import { type FinishOptions, type ImageFormat, MAX_IMAGE_PIXELS } from "../../engines/images/port.ts";
import type { ApiError } from "../../errors/index.ts";
import { invalidRequest } from "../../schema/index.ts";

export interface RequestedTiers {
	readonly aspect_ratio?: string | undefined;
	readonly resolution?: string | undefined;
	readonly quality?: ImageQuality | undefined;
	readonly output_format?: ImageFormat | "jpg" | undefined;
}

export interface ChosenTiers {
	/** The ratio's name, or `auto`. */
	readonly ratio: string;
	readonly resolution: string;
	/** null: the model has no qualities. */
	readonly quality: ImageQuality | null;
	readonly format: ImageFormat;
}

/**
 * Returns the chosen tiers.
 * @throws ApiError INVALID_REQUEST with `issues` that name the model's tiers
 */
export function chooseTiers(requested: RequestedTiers, properties: ImageProperties): ChosenTiers {
	const { aspectRatios, resolutions, qualities } = properties;
	const ratio = requested.aspect_ratio ?? properties.defaultAspectRatio ?? "auto";
	if (ratio !== "auto" && !aspectRatios.includes(ratio)) throw notOffered("aspect_ratio", ratio, ["auto", ...aspectRatios]);
	const resolution = requested.resolution ?? properties.defaultResolution;
	const known = resolutions.length > 0 ? resolutions : ["1K"];
	if (!known.includes(resolution)) throw notOffered("resolution", resolution, known);
	const quality = qualities.length === 0 ? null : (requested.quality ?? properties.defaultQuality);
	if (quality !== null && !qualities.includes(quality)) throw notOffered("quality", quality, qualities);
	return { ratio, resolution, quality, format: formatOf(requested.output_format) ?? (resolution === "1K" ? "png" : "jpeg") };
}

function formatOf(name: ImageFormat | "jpg" | undefined): ImageFormat | undefined {
	return name === "jpg" ? "jpeg" : name;
}

/** Returns the refusal of a value that the field has, but the model does not. */
export function notOffered(field: string, value: string, offered: readonly string[]): ApiError {
	const message = `"${value}" is not offered by this model; it has ${[...new Set(offered)].join(", ")}`;
	return invalidRequest([{ path: [field], code: "not_offered", message }]);
}

/**
 * Returns the ratio of the result: the named one, or the model's nearest to the picture; the picture's own where the
 * model has none.
 */
export function resolvedRatio(
	ratio: string,
	properties: ImageProperties,
	picture: ImageSize,
): { name: string | null; size: ImageSize } {
	const name = ratio === "auto" ? nearestRatio(properties.aspectRatios, picture) : ratio;
	const size = name === null ? null : ratioOf(name);
	return { name, size: size ?? { width: picture.width, height: picture.height } };
}

/**
 * Returns how an upstream's picture is finished. With tiers it gets exactly the tier's size. Without tiers it keeps its
 * size, is cropped if the ratio differs, and is never enlarged.
 */
export function finishOptions(properties: ImageProperties, choices: ChosenTiers, ratio: ImageSize): FinishOptions {
	const { format, resolution } = choices;
	if (properties.resolutions.length > 0) return { format, size: tierSize(resolution, ratio), fit: "cover" };
	return { format, size: largestSize(ratio, MAX_IMAGE_PIXELS), fit: "cover", enlarge: false };
}
