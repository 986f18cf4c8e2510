/** The operator's `parameters` of an entry, filled in for one request (docs/images.md, Upstreams). */
import type { ModelTarget } from "../../catalog/types.ts";
import type { ImageForward } from "./port.ts";

export type ParameterValue = string | number | boolean | string[];
/** Values by name; undefined: the request has none. */
export type Values = Readonly<Record<string, string | number | string[] | undefined>>;
type Parameters = NonNullable<ModelTarget["parameters"]>;

const PLACE = /\{([a-z_]+\d?)\}/g;
/** Maximum number of pictures in a request. */
const MAX_PICTURES = 3;
const PICTURES = ["image", "image2", "image3", "images", "mask"] as const;

/**
 * Replaces names in braces. A text that is only one name becomes the value in its own type; within a longer text it is
 * converted to text. A parameter is omitted if the request lacks its value. Other braces stay.
 */
export function fillParameters(parameters: Parameters, values: Values): Record<string, ParameterValue> {
	return Object.fromEntries(
		Object.entries(parameters).flatMap(([name, text]) => {
			const value = typeof text === "string" ? filledText(text, values) : text;
			return value === undefined ? [] : [[name, value]];
		}),
	);
}

function filledText(text: string, values: Values): ParameterValue | undefined {
	const names = [...text.matchAll(PLACE)].flatMap(([, name = ""]) => (Object.hasOwn(values, name) ? [name] : []));
	if (names.some((name) => values[name] === undefined)) return undefined;
	const [only] = names;
	if (only !== undefined && text === `{${only}}`) return values[only];
	return text.replace(PLACE, (whole, name: string) => (Object.hasOwn(values, name) ? String(values[name]) : whole));
}

/** Returns the names of pictures that the parameters contain. */
export function namedPictures(parameters: Parameters): ReadonlySet<(typeof PICTURES)[number]> {
	const texts = Object.values(parameters).filter((value) => typeof value === "string");
	const names = texts.flatMap((text) => [...text.matchAll(PLACE)].map(([, name]) => name));
	return new Set(PICTURES.filter((name) => names.includes(name)));
}

/** Returns how many pictures the parameters take. */
export function placesFor(named: ReturnType<typeof namedPictures>): number {
	return named.has("images") ? MAX_PICTURES : ["image", "image2", "image3"].filter((name) => named.has(name as "image")).length;
}

/** Returns the values of a request, without its pictures. */
export function parameterValues(call: ImageForward, seed: number | undefined): Values {
	const { size } = call;
	return {
		prompt: promptOf(call),
		negative_prompt: call.negativePrompt,
		width: size?.width,
		height: size?.height,
		size: size === null ? undefined : `${size.width}x${size.height}`,
		aspect_ratio: call.aspectRatio ?? undefined,
		resolution: call.resolution,
		quality: call.quality ?? undefined,
		seed,
		steps: call.steps,
		guidance: call.guidance,
		factor: call.factor,
	};
}

/** The prompts of tasks for which the caller gives none. */
const FIXED_PROMPTS = {
	upscale: "Upscale this picture. Change nothing in it.",
	"background-remove": "Remove the background of this picture and leave it transparent. Change nothing else.",
} as const;

/** Returns the prompt: the caller's, or a fixed one for tasks without a prompt. */
export function promptOf({ kind, prompt }: Pick<ImageForward, "kind" | "prompt">): string {
	return kind === "upscale" || kind === "background-remove" ? FIXED_PROMPTS[kind] : prompt;
}
