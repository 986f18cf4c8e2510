import { TRANSPARENT } from "./colours.ts";
import { type Anchor, type Length, type RESIZE_WAYS, type Reshaping, SIDES } from "./operation.ts";
import { required } from "./read-adjustment.ts";
import { withColour } from "./read-colour.ts";
import { readFlip, readRotation } from "./read-turn.ts";
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
const ALL_SIDES = [
	...["each side", "every side", "all sides", "each edge", "every edge", "all edges", "all four sides", "all four edges"],
	...["sides", "edges"],
];
const ELLIPSES = ["ellipse", "oval"].flatMap((shape) => [
	...[`${shape} crop`, shape, `crop ${shape}`, `crop to ${shape}`, `crop into ${shape}`, `crop in ${shape}`],
	...[`cut to ${shape}`, `cut into ${shape}`, `cut out ${shape}`],
]);
const CIRCLES = [
	...["circle crop", "circular crop", "round crop", "circle", "circular"],
	...[
		"crop circle",
		"crop to circle",
		"crop into circle",
		"crop in circle",
		"cut to circle",
		"cut into circle",
		"cut out circle",
	],
];
/** Shares of a whole in percent. */
const SHARES: Readonly<Record<string, number>> = { half: 50, third: 33.33, quarter: 25 };

/**
 * Reads a change of size, part or side; null if the words are of none.
 * @throws {Misread}
 */
export function readReshaping(reader: TokenReader): Reshaping | null {
	const verb = reader.phrase("resize", "scale", "enlarge", "upscale", "shrink", "downscale", "downsize", "fit");
	if (verb !== null) return readResize(reader, verb);
	const larger = readLarger(reader) ?? readOtherSize(reader);
	if (larger !== null) return larger;
	if (reader.phrase(...ELLIPSES) !== null) return { op: "crop-ellipse" };
	const circle = readCircle(reader);
	if (circle !== null) return circle;
	const crop = reader.phrase("crop", "cut", "keep", "center crop", "centre crop");
	if (crop !== null) return readPart(reader, crop) ?? readCrop(reader);
	if (reader.phrase("square crop", "square") !== null) return { op: "crop-ratio", width: 1, height: 1, at: anchorOr(reader) };
	if (reader.phrase("remove", "delete", "drop") !== null) return readRemoval(reader);
	if (reader.phrase("trim") !== null) {
		reader.phrase("edges", "borders", "border");
		return reader.atJoint ? { op: "trim" } : readCrop(reader);
	}
	if (reader.phrase("pad", "extend") !== null) {
		reader.expect("to");
		const size = required(reader.size());
		return { op: "pad", ...size, colour: withColour(reader) ?? TRANSPARENT };
	}
	return readRotation(reader) ?? readFlip(reader);
}

/**
 * Reads `reduce the size by half`, `increase its size to 150%`, `make it 800 px wide`, `make it 800x600`; null if the words are
 * of none.
 */
function readOtherSize(reader: TokenReader): Reshaping | null {
	const start = reader.position;
	if (reader.phrase("reduce size", "decrease size", "reduce", "decrease") !== null) return readResize(reader, "shrink");
	if (reader.phrase("increase size", "increase") !== null) return readResize(reader, "enlarge");
	if (reader.phrase("width", "height") !== null) {
		reader.position = start;
		return readResize(reader, "resize");
	}
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

/** Reads `smaller`, `20% smaller`, `a bit larger`, `half the size`, `twice as big`; null if the words are of none. */
function readLarger(reader: TokenReader): Reshaping | null {
	const start = reader.position;
	const degree = reader.degree();
	const before = degree === null ? reader.number("scale", "%", "times") : null;
	const word = reader.phrase("smaller", "bigger", "larger");
	if (word !== null && before?.unit === "times") return scaled(word === "smaller" ? 100 / before.value : before.value * 100);
	if (word !== null) {
		if (before === null && reader.phrase("by half") !== null) return scaled(word === "smaller" ? 50 : 150);
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

/** Reads `crop to a circle`, `make it round`; null if the words are of none. */
function readCircle(reader: TokenReader): Reshaping | null {
	const start = reader.position;
	const isCircle = reader.phrase(...CIRCLES) !== null || (reader.phrase("round") !== null && reader.atJoint);
	if (isCircle) return { op: "crop-circle", at: anchorOr(reader) };
	reader.position = start;
	return null;
}

/** Returns half or twice the size; `a bit` halves the change. */
function resizedBy(grows: boolean, degree: number | null): Reshaping {
	if (degree !== null && degree < 1) return scaled(grows ? 150 : 75);
	return scaled(grows ? 200 : 50);
}

function readResize(reader: TokenReader, word: string): Reshaping {
	const direction = word === "scale" ? reader.phrase("up", "down") : null;
	const verb = direction === "up" ? "enlarge" : direction === "down" || word.startsWith("down") ? "shrink" : word;
	if (verb !== "resize" && verb !== "scale" && reader.atJoint) return resizedBy(verb !== "shrink", null);
	const by = reader.phrase("by", "to") === "by";
	const isFitted = word === "fit" || reader.phrase("fit") !== null;
	if (isFitted) reader.phrase("to", "within", "into", "in", "inside");
	const share = reader.phrase(...Object.keys(SHARES));
	if (share !== null) {
		reader.phrase("size");
		return scaled(by ? 100 - (SHARES[share] ?? 0) : (SHARES[share] ?? 0));
	}
	const size = reader.size();
	if (size !== null) {
		const way = reader.phrase(...Object.keys(WAYS));
		return { op: "resize", ...size, how: (way === null ? undefined : WAYS[way]) ?? (isFitted ? "fitted" : "cropped") };
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
	const other = otherSide(reader, side);
	if (other === null) return { op: "resize-side", side, px: wholePixels(px.value) };
	const [width, height] = side === "width" ? [wholePixels(px.value), other] : [other, wholePixels(px.value)];
	return { op: "resize", width, height, how: isFitted ? "fitted" : "cropped" };
}

/** Reads the second side of `width 800 and height 600`; null if there is none. */
function otherSide(reader: TokenReader, first: "width" | "height"): number | null {
	const start = reader.position;
	if (reader.phrase("and", "by") === null) reader.take("separator");
	const named = reader.phrase("width", "height");
	if (named !== null) reader.phrase("of", "to");
	const px = reader.number("side", "px", null);
	const side = named ?? sideOf(reader.phrase("wide", "tall", "high", "width", "height"));
	if (px !== null && side !== null && side !== first) return wholePixels(px.value);
	reader.position = start;
	return null;
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
	const by = share === null ? readLength(reader) : ({ value: SHARES[share] ?? 0, unit: "%" } as const);
	if (side !== undefined && by !== null) {
		const isRemoved = reader.phrase("off", "away") !== null || goes;
		if (isRemoved) return { op: "cut", side, by };
		if (by.unit === "px") throw new Misread("say that it goes, as in: crop 100 px off the top");
		return { op: "cut", side: OPPOSITE[side], by: { value: Math.round((100 - by.value) * 100) / 100, unit: "%" } };
	}
	if (verb === "keep") throw new Misread("say what stays, as in: keep the top half");
	reader.position = start;
	return null;
}

function readCrop(reader: TokenReader): Reshaping {
	if (reader.phrase(...ALL_SIDES) !== null) {
		reader.phrase("by");
		return withoutEdges(required(readLength(reader)));
	}
	const length = readLength(reader);
	const start = reader.position;
	if (length !== null && reader.phrase("from", "off", "of") !== null) {
		const word = reader.phrase(...SIDES);
		const side = SIDES.find((each) => each === word);
		if (side !== undefined) {
			reader.phrase("side", "edge");
			return { op: "cut", side, by: length };
		}
		if (reader.phrase(...ALL_SIDES) !== null) return withoutEdges(length);
	}
	reader.position = start;
	if (length !== null) {
		if (length.unit === "px") throw new Misread("say from where, as in: crop 10 px from the left");
		return { op: "crop-share", percent: length.value, at: anchorOr(reader) };
	}
	reader.phrase("to");
	const ahead = reader.anchor() ?? "center";
	reader.phrase("to");
	if (reader.phrase("square") !== null) return { op: "crop-ratio", width: 1, height: 1, at: anchorOr(reader, ahead) };
	const percent = reader.number("percent", "%");
	if (percent !== null) return { op: "crop-share", percent: inRange(percent.value, "scale"), at: anchorOr(reader, ahead) };
	const ratio = reader.take("ratio");
	if (ratio !== null) {
		const [width, height] = [inRange(ratio.width, "ratio"), inRange(ratio.height, "ratio")];
		return { op: "crop-ratio", width, height, at: anchorOr(reader, ahead) };
	}
	const size = required(reader.size());
	return { op: "crop", ...size, at: reader.place() ?? reader.anchor() ?? ahead };
}

/** Returns the crop that removes a length from each of the four sides. */
function withoutEdges({ value, unit }: Length): Reshaping {
	if (unit === "px") return { op: "crop-edges", px: value };
	return { op: "crop-share", percent: inRange(Math.round((100 - 2 * value) * 100) / 100, "scale"), at: "center" };
}

function anchorOr(reader: TokenReader, otherwise: Anchor = "center"): Anchor {
	const start = reader.position;
	if (reader.phrase("at", "from", "in") !== null) {
		const anchor = reader.anchor();
		if (anchor !== null) return anchor;
	}
	reader.position = start;
	return reader.anchor() ?? otherwise;
}

/** Reads `10%`, `20 px`, and `20` for pixels. */
export function readLength(reader: TokenReader): Length | null {
	const percent = reader.number("percent", "%");
	if (percent !== null) return { value: inRange(percent.value, "scale"), unit: "%" };
	const px = reader.number("side", "px", null);
	return px === null ? null : { value: wholePixels(px.value), unit: "px" };
}
