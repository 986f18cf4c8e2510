import { TRANSPARENT } from "./colours.ts";
import type { Reshaping } from "./operation.ts";
import { required } from "./read-adjustment.ts";
import { withColour } from "./read-colour.ts";
import type { TokenReader } from "./token-reader.ts";

const LEFT = ["left", "counterclockwise", "counter clockwise", "anticlockwise", "anti clockwise", "ccw"];
const RIGHT = ["right", "clockwise", "cw"];
const TURNS: Readonly<Record<string, number>> = { "quarter turn": 90, "half turn": 180, "upside down": 180 };
const BOTH = ["horizontally and vertically", "vertically and horizontally", "both ways", "both directions"];

/**
 * Reads `rotate left`, `upside down`; null if the words are of no rotation.
 * @throws {Misread}
 */
export function readRotation(reader: TokenReader): Reshaping | null {
	if (reader.phrase("upside down") !== null) return { op: "rotate", degrees: 180, colour: TRANSPARENT };
	return reader.phrase("rotate", "spin", "tilt", "straighten") === null ? null : required(readDegrees(reader));
}

/** Reads what follows the word `turn`, as in `turn left`; null if it is no rotation. */
export function readTurn(reader: TokenReader): Reshaping | null {
	const start = reader.position;
	const rotation = readDegrees(reader);
	if (rotation !== null && reader.atJoint) return rotation;
	reader.position = start;
	return null;
}

function readDegrees(reader: TokenReader): Reshaping | null {
	reader.phrase("by");
	const before = direction(reader);
	reader.phrase("by");
	const named = reader.phrase(...Object.keys(TURNS));
	const stated = named === null ? reader.number("degrees", "degrees", null)?.value : TURNS[named];
	const degrees = stated ?? (before === null ? null : 90);
	if (degrees === null) return null;
	const turned = (before ?? direction(reader)) === "left" ? -degrees : degrees;
	return { op: "rotate", degrees: turned === 0 ? 0 : turned, colour: withColour(reader) ?? TRANSPARENT };
}

function direction(reader: TokenReader): "left" | "right" | null {
	reader.phrase("to");
	if (reader.phrase(...LEFT) !== null) return "left";
	return reader.phrase(...RIGHT) === null ? null : "right";
}

/** Reads `mirror`, `flip horizontally`, `vertical flip`; null if the words are of none. */
export function readFlip(reader: TokenReader): Reshaping | null {
	if (reader.phrase("horizontal flip", "horizontal mirror", "flop") !== null) return { op: "flip", axis: "horizontally" };
	if (reader.phrase("vertical flip", "vertical mirror") !== null) return { op: "flip", axis: "vertically" };
	if (reader.phrase("mirror", "mirrored", "reflect", "reflected") !== null) return flipOrHalfTurn(reader, "horizontally");
	return reader.phrase("flip", "flipped") === null ? null : flipOrHalfTurn(reader, "vertically");
}

/** Both directions at once are half a turn. */
function flipOrHalfTurn(reader: TokenReader, otherwise: "horizontally" | "vertically"): Reshaping {
	if (reader.phrase(...BOTH) !== null) return { op: "rotate", degrees: 180, colour: TRANSPARENT };
	return { op: "flip", axis: axis(reader) ?? otherwise };
}

function axis(reader: TokenReader): "horizontally" | "vertically" | null {
	// A mirror that stands upright exchanges left and right.
	reader.phrase("along", "about", "over", "on", "across");
	if (reader.phrase("horizontal axis") !== null) return "vertically";
	if (reader.phrase("vertical axis", "horizontally", "horizontal", "left to right", "left right") !== null) return "horizontally";
	return reader.phrase("vertically", "vertical", "upside down", "top to bottom") === null ? null : "vertically";
}
