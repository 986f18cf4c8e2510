/** What the operator writes under `parameters` of an entry, filled in for one request (docs/images.md, Upstreams). */
import type { ModelTarget } from "../../catalog/types.ts";
import { promptOf } from "./fixed-prompts.ts";
import type { ImageForward } from "./port.ts";

export type ParameterValue = string | number | boolean | string[];
/** Values by their names; undefined: the request has none. */
export type Values = Readonly<Record<string, string | number | string[] | undefined>>;
type Parameters = NonNullable<ModelTarget["parameters"]>;

const PLACE = /\{([a-z_]+\d?)\}/g;
/** Most that a request has. */
const MAX_PICTURES = 3;
const PICTURES = ["image", "image2", "image3", "images", "mask"] as const;

/**
 * The parameters with the names in braces replaced. A text that is one name becomes its value, of the value's own type; inside
 * a text it is written out. A parameter whose value the request does not have is left out. Other braces stay.
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

/** The pictures that the parameters ask for by their names. */
export function namedPictures(parameters: Parameters): ReadonlySet<(typeof PICTURES)[number]> {
	const texts = Object.values(parameters).filter((value) => typeof value === "string");
	const names = texts.flatMap((text) => [...text.matchAll(PLACE)].map(([, name]) => name));
	return new Set(PICTURES.filter((name) => names.includes(name)));
}

/** How many pictures the parameters have a place for. */
export function placesFor(named: ReturnType<typeof namedPictures>): number {
	return named.has("images") ? MAX_PICTURES : ["image", "image2", "image3"].filter((name) => named.has(name as "image")).length;
}

/** What a request has to fill in, but for its pictures. */
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
