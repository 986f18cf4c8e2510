import { type Colour, TRANSPARENT } from "./colours.ts";
import { type Decoration, type LetterSize, MAX_TEXT_CHARS, type Position } from "./operation.ts";
import { readMaskName, required } from "./read-adjustment.ts";
import { withColour } from "./read-colour.ts";
import { readLength } from "./read-reshaping.ts";
import { Misread, type TokenReader } from "./token-reader.ts";

const BLACK: Colour = "#000000";
const WHITE: Colour = "#ffffff";
const DEFAULT_BORDER_PX = 10;
const LETTER_WORDS: Readonly<Record<string, LetterSize>> = {
	large: "large",
	big: "large",
	huge: "large",
	small: "small",
	tiny: "small",
	little: "small",
};
const STROKES: Readonly<Record<string, number>> = { thick: 30, wide: 30, thin: 3, narrow: 3 };

/**
 * Reads a decoration; null if the words are of none.
 * @throws {Misread}
 */
export function readDecoration(reader: TokenReader): Decoration | null {
	const behind = reader.phrase("corners round", "corners rounded", "corners rounder") !== null;
	if (behind || reader.phrase("round", "rounded") !== null) {
		if (!behind) reader.expect("corners", "corner", "edges");
		reader.phrase("by", "with", "of", "to");
		return { op: "round", radius: readLength(reader) ?? { value: 10, unit: "%" } };
	}
	return readBackground(reader) ?? readFill(reader) ?? readBorder(reader) ?? readText(reader) ?? readLayer(reader);
}

function readBackground(reader: TokenReader): Decoration | null {
	if (reader.phrase("remove background", "transparent background", "background transparent", "cut out background") !== null)
		return { op: "background", colour: TRANSPARENT };
	if (reader.phrase("replace background", "background") !== null)
		return { op: "background", colour: required(withColour(reader) ?? reader.colour()) };
	if (reader.phrase("flatten", "fill transparency", "fill transparent areas", "fill transparent parts") !== null)
		return { op: "flatten", colour: withColour(reader) ?? WHITE };
	return null;
}

function readFill(reader: TokenReader): Decoration | null {
	const start = reader.position;
	const verb = reader.phrase("fill", "inpaint", "erase", "remove", "heal", "repair");
	if (verb === null) return null;
	const mask = readMaskName(reader) ?? (verb === "inpaint" ? 2 : null);
	if (mask === null) {
		reader.position = start;
		return null;
	}
	return { op: "fill", mask, colour: withColour(reader) };
}

/** Reads `border 10 px red`, `10 px red border`. */
function readBorder(reader: TokenReader): Decoration | null {
	const start = reader.position;
	let px: number | null = null;
	let colour: Colour | null = null;
	reader.phrase("put", "draw");
	const readParts = () => {
		for (;;) {
			reader.phrase("of", "with", "in");
			reader.phrase("solid");
			const stroke = px === null ? reader.phrase(...Object.keys(STROKES)) : null;
			if (stroke !== null) px = STROKES[stroke] ?? null;
			const number = px === null ? reader.number("border", "px", null) : null;
			if (number !== null) px = Math.round(number.value);
			const nextColour: Colour | null = number === null && colour === null ? reader.colour() : null;
			if (nextColour !== null) colour = nextColour;
			if (number === null && nextColour === null && stroke === null) return;
		}
	};
	const first = reader.phrase("border", "frame");
	readParts();
	if (first === null && reader.phrase("border", "frame") === null) {
		reader.position = start;
		return null;
	}
	if (first === null) readParts();
	reader.phrase("around");
	return { op: "border", px: px ?? DEFAULT_BORDER_PX, colour: colour ?? BLACK };
}

function readText(reader: TokenReader): Decoration | null {
	const start = reader.position;
	const verb = reader.phrase("write", "caption", "label", "watermark", "print", "put", "place", "overlay");
	reader.phrase("text", "words", "caption", "watermark", "title", "heading", "label");
	reader.phrase("saying", "that says", "which says", "reading", "that reads", "with words");
	const text = reader.take("text")?.text;
	if (text === undefined) {
		// These verbs also introduce a layer.
		if (verb === "put" || verb === "place" || verb === "overlay") reader.position = start;
		if (reader.position !== start) throw new Misread('the text goes in quotes, as in: write "Hello"');
		return null;
	}
	if (text.trim() === "" || text.length > MAX_TEXT_CHARS) throw new Misread(`a text has 1 to ${MAX_TEXT_CHARS} characters`);
	let at: Position = "bottom";
	let px: number | LetterSize | null = null;
	let colour: Colour = WHITE;
	let bold = false;
	let opacity = 100;
	while (!reader.atJoint) {
		const place = reader.place() ?? reader.anchor();
		const stated = place === null ? withColour(reader) : null;
		if (place !== null) at = place;
		else if (stated !== null) colour = stated;
		else if (reader.phrase("bold") !== null) bold = true;
		else if (reader.phrase("opacity", "with opacity") !== null) opacity = readPercent(reader);
		else {
			reader.phrase("with", "of", "in", "as");
			if (reader.phrase("bold") !== null) {
				bold = true;
				continue;
			}
			if (reader.phrase("font size", "size") !== null) reader.phrase("of");
			const word = reader.phrase(...Object.keys(LETTER_WORDS));
			const number = word === null ? reader.number("letters", "px", null) : null;
			const plain = word === null && number === null ? reader.colour() : null;
			if (word !== null) px = LETTER_WORDS[word] ?? null;
			else if (number !== null) px = Math.round(number.value);
			else if (plain !== null) colour = plain;
			else if (reader.phrase("text", "title", "letters", "font", "type") === null) throw new Misread();
		}
	}
	return { op: "text", text, at, px, colour, bold, opacity };
}

function readPercent(reader: TokenReader): number {
	reader.phrase("of");
	return required(reader.number("percent", "%")).value;
}

function readLayer(reader: TokenReader): Decoration | null {
	if (reader.phrase("place", "overlay", "compose", "put", "paste", "insert") === null) return null;
	const layer = reader.layer() ?? (reader.phrase("layer") === null && !reader.atJoint ? null : 2);
	let at: Position = "center";
	let width: ReturnType<typeof readLength> = null;
	let opacity = 100;
	while (!reader.atJoint) {
		const place = reader.place() ?? reader.anchor();
		if (place !== null) at = place;
		else if (reader.phrase("with opacity", "opacity") !== null) opacity = readPercent(reader);
		else {
			const scaled = reader.phrase("scaled to", "resized to") !== null;
			reader.phrase("with");
			const length = required(readLength(reader));
			if (scaled || reader.phrase("opacity") === null) {
				reader.phrase("wide", "width");
				width = length;
			} else if (length.unit === "%") opacity = length.value;
			else throw new Misread("opacity is a percentage");
		}
	}
	return { op: "layer", layer: layer ?? 2, at, width, opacity };
}
