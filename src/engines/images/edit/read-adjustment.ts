import type { Colour } from "./colours.ts";
import type { Adjustment, LayerNumber, MaskedAdjustment } from "./operation.ts";
import { inRange, Misread, type TokenReader } from "./token-reader.ts";

const DEFAULT_CHANGE = 20;
const DEFAULT_TINT = 50;
const DEFAULT_VIGNETTE = 50;
/** Names of properties, and words that behind `more` and `less` mean them. */
const TONES: Readonly<Record<string, Tone>> = {
	brightness: "brightness",
	exposure: "brightness",
	contrast: "contrast",
	saturation: "saturation",
	saturated: "saturation",
	vividness: "saturation",
	vivid: "saturation",
	vibrance: "saturation",
	vibrant: "saturation",
	colorful: "saturation",
	colourful: "saturation",
	colors: "saturation",
	colours: "saturation",
	warmth: "warmth",
	temperature: "warmth",
	warm: "warmth",
};
type Tone = "brightness" | "contrast" | "saturation" | "warmth";
/** Verbs that name both the property and its direction. */
const TONE_VERBS: Readonly<Record<string, readonly [Tone, sign: 1 | -1]>> = {
	brighten: ["brightness", 1],
	brighter: ["brightness", 1],
	lighten: ["brightness", 1],
	lighter: ["brightness", 1],
	darken: ["brightness", -1],
	darker: ["brightness", -1],
	saturate: ["saturation", 1],
	desaturate: ["saturation", -1],
	warm: ["warmth", 1],
	warmer: ["warmth", 1],
	cool: ["warmth", -1],
	cooler: ["warmth", -1],
	cold: ["warmth", -1],
	colder: ["warmth", -1],
};
const MORE = ["increase", "raise", "more", "boost", "higher", "high", "up"];
const LESS = ["decrease", "reduce", "lower", "less", "low", "down"];
const GREY = [
	"black and white",
	"black white",
	"b and w",
	"bw",
	"grey scale",
	"gray scale",
	"greyscale",
	"grayscale",
	"monochrome",
	"grey",
	"gray",
	"remove color",
	"remove colour",
	"remove colors",
	"remove colours",
	"remove all color",
	"remove all colour",
	"remove all colors",
	"remove all colours",
	"without color",
	"without colour",
];
const VIGNETTE = ["vignette", "dark vignette", "vignetting", "darken edges", "darken corners", "darker edges", "darker corners"];
const BLUR = ["blur", "blurred", "blurry", "blurrier", "gaussian blur", "soften", "softer", "smooth", "smoother"];

/**
 * Reads an adjustment with its mask; null if the words are of none.
 * @throws {Misread}
 */
export function readAdjustment(reader: TokenReader): MaskedAdjustment | null {
	const start = reader.position;
	const before = reader.degree();
	const measured = readMeasured(reader, before) ?? readTone(reader, before);
	const adjustment = measured ?? (before === null ? (readPlain(reader) ?? readOpacity(reader)) : null);
	if (adjustment !== null) return { ...adjustment, mask: readMask(reader) };
	reader.position = start;
	return null;
}

/** Reads effects with a strength; `before` is the degree in front of them. */
function readMeasured(reader: TokenReader, before: number | null): Adjustment | null {
	if (reader.phrase(...BLUR) !== null) return { op: "blur", px: amount(reader, "blur", 5, before) };
	if (reader.phrase("pixelate", "pixelated", "pixellate") !== null)
		return { op: "pixelate", px: Math.round(amount(reader, "pixelate", 16, before)) };
	if (reader.phrase("sharpen", "sharper", "sharp", "increase sharpness", "more sharpness") !== null)
		return { op: "sharpen", amount: amount(reader, "sharpen", 1, before) };
	if (reader.phrase(...VIGNETTE) !== null) {
		reader.phrase("by", "of", "at", "with");
		const percent = reader.number("percent", "%")?.value ?? DEFAULT_VIGNETTE * (before ?? reader.degree() ?? 1);
		return { op: "vignette", percent };
	}
	return null;
}

/** Reads `opacity 50%`, `50% opacity`, `50% transparent`, `semi-transparent`; null if the words are of none. */
function readOpacity(reader: TokenReader): Adjustment | null {
	const start = reader.position;
	if (reader.phrase("semi transparent", "half transparent", "semitransparent") !== null) return { op: "opacity", percent: 50 };
	const isNamed = reader.phrase("opacity", "reduce opacity", "lower opacity", "decrease opacity") !== null;
	if (isNamed) reader.phrase("to", "of", "at");
	const percent = reader.number("percent", "%")?.value ?? null;
	const word = isNamed ? "opacity" : reader.phrase("opacity", "opaque", "transparent", "transparency", "see through");
	if (percent === null || word === null) {
		reader.position = start;
		return null;
	}
	const isOpacity = word === "opacity" || word === "opaque";
	return { op: "opacity", percent: isOpacity ? percent : Math.round((100 - percent) * 100) / 100 };
}

function readPlain(reader: TokenReader): Adjustment | null {
	if (reader.phrase(...GREY) !== null) return { op: "grey" };
	if (reader.phrase("sepia") !== null) {
		reader.phrase("tone", "toned", "look");
		return { op: "sepia" };
	}
	if (reader.phrase("invert", "inverted", "negate", "negative") !== null) {
		reader.phrase("colors", "colours");
		return { op: "invert" };
	}
	if (reader.phrase("hue rotate", "hue", "shift hue", "rotate hue") !== null) {
		reader.phrase("by");
		return { op: "hue", degrees: required(reader.number("degrees", "degrees", null)).value };
	}
	if (reader.phrase("tint", "tinted", "colorize", "colourize") !== null) return readTint(reader);
	return readNamedTint(reader);
}

/** Reads `blue tint`; null if the words are of none. */
function readNamedTint(reader: TokenReader): Adjustment | null {
	const start = reader.position;
	const colour = reader.colour();
	if (colour !== null && reader.phrase("tint", "tone") !== null) return { op: "tint", colour, percent: tintPercent(reader) };
	reader.position = start;
	return null;
}

function readTint(reader: TokenReader): Adjustment {
	reader.phrase("with", "in");
	const colour: Colour | null = reader.colour();
	if (colour === null) throw new Misread("a tint needs a colour");
	return { op: "tint", colour, percent: tintPercent(reader) };
}

function tintPercent(reader: TokenReader): number {
	reader.phrase("by", "at", "of");
	return reader.number("percent", "%")?.value ?? DEFAULT_TINT;
}

function readTone(reader: TokenReader, before: number | null): Adjustment | null {
	const start = reader.position;
	if (reader.phrase("colors pop", "colours pop") !== null) return toned("saturation", DEFAULT_CHANGE * (before ?? 1));
	// `make the colours more vivid`
	reader.phrase("colors", "colours");
	const verb = reader.phrase(...Object.keys(TONE_VERBS));
	const [tone, sign] = (verb === null ? undefined : TONE_VERBS[verb]) ?? [null, 1];
	if (tone !== null) {
		reader.phrase("up", "down");
		reader.phrase("colors", "colours", "tones", "tone");
		if (verb === "desaturate" && reader.phrase("completely", "fully", "entirely") !== null) return { op: "grey" };
		const change = changeBy(reader);
		// Without a number all colour is removed.
		const degree = before ?? (change === null ? reader.degree() : null);
		if (verb === "desaturate" && change === null && degree === null) return { op: "grey" };
		return toned(tone, sign * (change ?? DEFAULT_CHANGE * (degree ?? 1)));
	}
	const inFront = directionOf(reader);
	const named = reader.phrase(...Object.keys(TONES));
	if (named === null) {
		reader.position = start;
		return null;
	}
	const op = TONES[named] ?? "brightness";
	const direction = inFront ?? directionOf(reader);
	if (direction !== null) return toned(op, direction * (changeBy(reader) ?? DEFAULT_CHANGE * (before ?? reader.degree() ?? 1)));
	const to = reader.phrase("to") !== null;
	if (!to) reader.phrase("by");
	const { value, signed } = required(reader.number("adjust", "%"));
	// `brightness 120%` is relative to the original, `brightness +20%` is an increase.
	return toned(op, signed && !to ? value : value - 100);
}

/** Reads whether a property rises (1) or falls (-1); null if the words do not say. */
function directionOf(reader: TokenReader): 1 | -1 | null {
	return reader.phrase(...MORE) !== null ? 1 : reader.phrase(...LESS) !== null ? -1 : null;
}

/** Reads `by 20%`; null if it is missing. */
function changeBy(reader: TokenReader): number | null {
	const by = reader.phrase("by") !== null;
	const change = reader.number("adjust", "%");
	if (by && change === null) throw new Misread("a percentage is missing, as in: by 20%");
	return change?.value ?? null;
}

const toned = (op: Tone, percent: number): Adjustment => ({ op, percent: inRange(percent === 0 ? 0 : percent, "adjust") });

function amount(reader: TokenReader, range: "blur" | "pixelate" | "sharpen", otherwise: number, before: number | null): number {
	const by = reader.phrase("by", "with", "to", "of") !== null;
	if (reader.phrase("radius", "strength") !== null) reader.phrase("of", "to");
	const number = range === "sharpen" ? reader.number(range, null) : reader.number(range, "px", null);
	if (by && number === null) throw new Misread("a number is missing");
	return number?.value ?? otherwise * (before ?? reader.degree() ?? 1);
}

/** Reads `in the masked region`, `inside mask 3`. */
function readMask(reader: TokenReader): LayerNumber | null {
	const start = reader.position;
	if (reader.phrase("in", "inside", "within", "under") === null) return null;
	const mask = readMaskName(reader);
	if (mask === null) reader.position = start;
	return mask;
}

/** Reads `masked region`, `mask`, `mask 3`, `masked area of layer 3`; the second image if there is no number. */
export function readMaskName(reader: TokenReader): LayerNumber | null {
	const start = reader.position;
	if (reader.phrase("masked") !== null) {
		reader.phrase("region", "area", "part", "parts", "pixels", "object");
		return reader.phrase("of", "by") === null ? 2 : required(reader.layer());
	}
	const numbered = reader.layer();
	if (numbered !== null) return numbered;
	reader.position = start;
	return reader.phrase("mask") === null ? null : 2;
}

/**
 * Returns the value.
 * @throws {Misread} if it is missing
 */
export function required<Value>(value: Value | null): Value {
	if (value === null) throw new Misread();
	return value;
}
