import { type Colour, TRANSPARENT } from "./colours.ts";
import { type Length, type RESIZE_WAYS, type Reshaping, SIDES } from "./operation.ts";
import { required } from "./read-adjustment.ts";
import { inRange, Misread, type TokenReader, wholePixels } from "./token-reader.ts";

type ResizeWay = (typeof RESIZE_WAYS)[number];
const WAYS: Readonly<Record<string, ResizeWay>> = {
	cropped: "cropped",
	cover: "cropped",
	padded: "padded",
	contain: "padded",
	stretched: "stretched",
	stretch: "stretched",
	fitted: "fitted",
	fit: "fitted",
	inside: "fitted",
};

const OPPOSITE = { left: "right", right: "left", top: "bottom", bottom: "top" } as const;
const ALL_SIDES = ["each side", "every side", "all sides", "each edge", "every edge", "all edges", "all four sides"];
/** Shares of a whole in percent. */
const SHARES: Readonly<Record<string, number>> = { half: 50, third: 33.33, quarter: 25 };

/**
 * Reads a change of size, part or side; null if the words are of none.
 * @throws {Misread}
 */
export function readReshaping(reader: TokenReader): Reshaping | null {
	const verb = reader.phrase("resize", "scale", "enlarge", "upscale", "shrink");
	if (verb !== null) return readResize(reader, verb);
	const larger = readLarger(reader) ?? readOtherSize(reader);
	if (larger !== null) return larger;
	const crop = reader.phrase("crop", "cut", "keep");
	if (crop !== null) return readPart(reader, crop) ?? readCrop(reader);
	if (reader.phrase("square") !== null) return { op: "crop-ratio", width: 1, height: 1, at: anchorOr(reader) };
	if (reader.phrase("remove", "delete", "drop") !== null) return readRemoval(reader);
	if (reader.phrase("trim") !== null) {
		reader.phrase("edges", "borders", "border");
		return { op: "trim" };
	}
	if (reader.phrase("pad", "extend") !== null) {
		reader.expect("to");
		const size = required(reader.size());
		return { op: "pad", ...size, colour: withColour(reader) ?? TRANSPARENT };
	}
	if (reader.phrase("upside down") !== null) return { op: "rotate", degrees: 180, colour: TRANSPARENT };
	if (reader.phrase("rotate") !== null) return readRotate(reader);
	if (reader.phrase("mirror", "mirrored") !== null) return flipped(reader, "horizontally");
	return reader.phrase("flip", "flipped") === null ? null : flipped(reader, "vertically");
}

/**
 * Reads `reduce the size by half`, `increase its size to 150%`, `make it 800 px wide`, `make it 800x600`; null if the words are
 * of none.
 */
function readOtherSize(reader: TokenReader): Reshaping | null {
	const start = reader.position;
	if (reader.phrase("reduce size", "decrease size") !== null) return readResize(reader, "shrink");
	if (reader.phrase("increase size") !== null) return readResize(reader, "enlarge");
	const size = reader.size();
	if (size !== null && reader.atJoint) return { op: "resize", ...size, how: "cropped" };
	reader.position = start;
	const px = reader.number("side", "px", null);
	const side = px === null ? null : sideOf(reader.phrase("wide", "tall", "high"));
	if (px !== null && (side === "width" || side === "height")) return { op: "resize-side", side, px: wholePixels(px.value) };
	reader.position = start;
	return null;
}

/** Reads `remove the left half`; null if the words continue differently, as in `remove the background`. */
function readRemoval(reader: TokenReader): Reshaping | null {
	const part = readPart(reader, "cut");
	if (part === null) reader.position -= 1;
	return part;
}

/** Both directions at once are half a turn. */
function flipped(reader: TokenReader, otherwise: "horizontally" | "vertically"): Reshaping {
	const both = ["horizontally and vertically", "vertically and horizontally", "both ways", "both directions"];
	if (reader.phrase(...both) !== null) return { op: "rotate", degrees: 180, colour: TRANSPARENT };
	return { op: "flip", axis: axis(reader) ?? otherwise };
}

/** Reads `smaller`, `20% smaller`, `a bit larger`, `half the size`, `twice as big`; null if the words are of none. */
function readLarger(reader: TokenReader): Reshaping | null {
	const start = reader.position;
	const degree = reader.degree();
	const before = degree === null ? reader.number("scale", "%") : null;
	const word = reader.phrase("smaller", "bigger", "larger");
	if (word !== null) {
		if (before === null) reader.phrase("by");
		const percent = (before ?? reader.number("scale", "%"))?.value ?? null;
		const grows = word !== "smaller";
		if (percent !== null) return scaled(grows ? 100 + percent : 100 - percent);
		return resizedBy(grows, degree ?? reader.degree());
	}
	reader.position = start;
	if (reader.phrase("half size", "half as big", "half as large") !== null) return scaled(50);
	return reader.phrase("double size", "twice size", "twice as big", "twice as large") === null ? null : scaled(200);
}

/** Returns half or twice the size; `a bit` halves the change. */
function resizedBy(grows: boolean, degree: number | null): Reshaping {
	if (degree !== null && degree < 1) return scaled(grows ? 150 : 75);
	return scaled(grows ? 200 : 50);
}

function readResize(reader: TokenReader, verb: string): Reshaping {
	if (verb !== "resize" && verb !== "scale" && reader.atJoint) return resizedBy(verb !== "shrink", null);
	const by = reader.phrase("by", "to") === "by";
	const share = reader.phrase(...Object.keys(SHARES));
	if (share !== null) {
		reader.phrase("size");
		return scaled(by ? 100 - (SHARES[share] ?? 0) : (SHARES[share] ?? 0));
	}
	const size = reader.size();
	if (size !== null) {
		const way = reader.phrase(...Object.keys(WAYS));
		return { op: "resize", ...size, how: (way === null ? undefined : WAYS[way]) ?? "cropped" };
	}
	const times = reader.number("scale", "times") ?? (verb === "resize" ? null : reader.number("scale", null));
	if (times !== null) return scaled(verb === "shrink" && by ? 100 / times.value : times.value * 100);
	const percent = reader.number("scale", "%");
	if (percent !== null) {
		if (by && verb === "enlarge") return scaled(100 + percent.value);
		if (by && verb === "shrink") return scaled(100 - percent.value);
		return scaled(percent.value);
	}
	const first = reader.phrase("width", "height");
	if (first !== null) reader.phrase("of", "to");
	const px = required(reader.number("side", "px", null));
	const side = first ?? sideOf(reader.phrase("wide", "tall", "high", "width", "height"));
	if (side !== "width" && side !== "height") throw new Misread("say which side, as in: resize to 800 px wide");
	return { op: "resize-side", side, px: wholePixels(px.value) };
}

const sideOf = (word: string | null): string | null =>
	word === "wide" ? "width" : word === "tall" || word === "high" ? "height" : word;

/** Rounds to two decimals, which a prompt can express. */
const scaled = (percent: number): Reshaping => ({ op: "scale", percent: inRange(Math.round(percent * 100) / 100, "scale") });

/**
 * Reads a part: `crop to the top half` and `keep` retain it; `cut the top half` and `crop off the top half` remove it. null for
 * neither.
 */
function readPart(reader: TokenReader, verb: string): Reshaping | null {
	const start = reader.position;
	const goes = reader.phrase("off", "out", "away") !== null || verb === "cut";
	reader.phrase("to", "only");
	const word = reader.phrase(...SIDES);
	const side = SIDES.find((each) => each === word);
	const share = reader.phrase(...Object.keys(SHARES));
	if (side !== undefined && share !== null) {
		const percent = SHARES[share] ?? 0;
		const isRemoved = reader.phrase("off", "away") !== null || goes;
		if (isRemoved) return { op: "cut", side, by: { value: percent, unit: "%" } };
		return { op: "cut", side: OPPOSITE[side], by: { value: Math.round((100 - percent) * 100) / 100, unit: "%" } };
	}
	if (verb === "keep") throw new Misread("say what stays, as in: keep the top half");
	reader.position = start;
	return null;
}

function readCrop(reader: TokenReader): Reshaping {
	const length = readLength(reader);
	const start = reader.position;
	if (length !== null && reader.phrase("from", "off", "of") !== null) {
		const word = reader.phrase(...SIDES);
		const side = SIDES.find((each) => each === word);
		if (side !== undefined) {
			reader.phrase("side", "edge");
			return { op: "cut", side, by: length };
		}
		if (reader.phrase(...ALL_SIDES) !== null) {
			if (length.unit === "px") throw new Misread("all sides at once by a percentage, as in: crop 10% from each side");
			return { op: "crop-share", percent: inRange(Math.round((100 - 2 * length.value) * 100) / 100, "scale"), at: "center" };
		}
	}
	reader.position = start;
	if (length !== null) {
		if (length.unit === "px") throw new Misread("say from where, as in: crop 10 px from the left");
		return { op: "crop-share", percent: length.value, at: anchorOr(reader) };
	}
	reader.phrase("to");
	if (reader.phrase("square") !== null) return { op: "crop-ratio", width: 1, height: 1, at: anchorOr(reader) };
	const percent = reader.number("percent", "%");
	if (percent !== null) return { op: "crop-share", percent: inRange(percent.value, "scale"), at: anchorOr(reader) };
	const ratio = reader.take("ratio");
	if (ratio !== null) {
		const [width, height] = [inRange(ratio.width, "ratio"), inRange(ratio.height, "ratio")];
		return { op: "crop-ratio", width, height, at: anchorOr(reader) };
	}
	const size = required(reader.size());
	return { op: "crop", ...size, at: reader.place() ?? reader.anchor() ?? "center" };
}

function anchorOr(reader: TokenReader) {
	const start = reader.position;
	if (reader.phrase("at", "from", "in") !== null) {
		const anchor = reader.anchor();
		if (anchor !== null) return anchor;
	}
	reader.position = start;
	return reader.anchor() ?? "center";
}

/** Reads `10%`, `20 px`, and `20` for pixels. */
export function readLength(reader: TokenReader): Length | null {
	const percent = reader.number("percent", "%");
	if (percent !== null) return { value: inRange(percent.value, "scale"), unit: "%" };
	const px = reader.number("side", "px", null);
	return px === null ? null : { value: wholePixels(px.value), unit: "px" };
}

function readRotate(reader: TokenReader): Reshaping {
	reader.phrase("by");
	const before = turn(reader);
	const degrees = reader.number("degrees", "degrees", null)?.value ?? (before === null ? null : 90);
	const sign = (before ?? turn(reader)) === "left" ? -1 : 1;
	const turned = sign * required(degrees);
	return { op: "rotate", degrees: turned === 0 ? 0 : turned, colour: withColour(reader) ?? TRANSPARENT };
}

function turn(reader: TokenReader): "left" | "right" | null {
	reader.phrase("to");
	if (reader.phrase("left", "counterclockwise", "counter clockwise", "anticlockwise", "anti clockwise") !== null) return "left";
	return reader.phrase("right", "clockwise") === null ? null : "right";
}

function axis(reader: TokenReader): "horizontally" | "vertically" | null {
	if (reader.phrase("horizontally", "horizontal", "left to right", "left right") !== null) return "horizontally";
	return reader.phrase("vertically", "vertical", "upside down", "top to bottom") === null ? null : "vertically";
}

/** Reads `on white`, `with a white background`. */
export function withColour(reader: TokenReader): Colour | null {
	const start = reader.position;
	if (reader.phrase("on", "onto", "with", "in", "to") !== null) {
		const colour = reader.colour();
		if (colour !== null) {
			reader.phrase("background");
			return colour;
		}
	}
	reader.position = start;
	return null;
}
