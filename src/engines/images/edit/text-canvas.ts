import { join } from "node:path";
import sharp from "sharp";
import type { PixelSize } from "../image-header.ts";
import { ImageFault } from "../port.ts";
import { type Canvas, toCanvas } from "./canvas.ts";
import { rgbaOf } from "./colours.ts";
import { missingLetters } from "./missing-letters.ts";
import type { Decoration } from "./operation.ts";

/** Letter heights as shares of the image's height. */
const SHARES = { small: 1 / 20, default: 1 / 12, large: 1 / 6 };
/** The approximate limit of a text's area, because its layout takes memory. */
const MAX_TEXT_PIXELS = 32_000_000;
/** Letters are about half as wide as they are high; lines are considerably higher. */
const LETTER_WIDTH = 0.6;
const LINE_HEIGHT = 1.3;
/** The number of letters without a font that a refusal names. */
const MAX_TOLD = 10;

/**
 * Renders a text on a transparent canvas, wrapped to a width. Latin, Greek and Cyrillic letters use the included font; others
 * use the machine's fonts if it has them.
 * @throws {ImageFault} `not-possible`
 */
export async function textCanvas(
	{ text, px, colour, bold }: Extract<Decoration, { readonly op: "text" }>,
	picture: PixelSize,
	width: number,
): Promise<Canvas> {
	const height = typeof px === "number" ? px : Math.max(10, Math.round(picture.height * SHARES[px ?? "default"]));
	requireModest(text, height, width);
	const { r, g, b, alpha } = rgbaOf(colour);
	const hex = `#${[r, g, b].map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
	const weight = bold ? "Bold" : "Regular";
	const fontfile = join(import.meta.dir, "fonts", `Roboto-${weight}.ttf`);
	const missing = await missingLetters(text, { font: bold ? "Roboto Bold" : "Roboto", fontfile });
	if (missing.length > 0)
		throw new ImageFault("not-possible", `No font on this server has the letters ${missing.slice(0, MAX_TOLD).join(" ")}`);
	const image = sharp({
		text: {
			text: `<span foreground="${hex}" alpha="${Math.max(1, Math.round(alpha * 65_535))}">${escapeMarkup(text)}</span>`,
			font: `Roboto ${bold ? "Bold " : ""}${height}`,
			fontfile,
			// A point is a pixel.
			dpi: 72,
			width: Math.max(1, width),
			wrap: "word-char",
			rgba: true,
		},
	});
	return toCanvas(image).catch((fault) => {
		if (fault instanceof ImageFault) throw fault;
		throw new ImageFault("not-possible", "The text cannot be drawn: it has no letters that are seen");
	});
}

function requireModest(text: string, height: number, width: number): void {
	const perLine = Math.max(1, Math.floor(width / (height * LETTER_WIDTH)));
	const lines = text.split("\n").reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / perLine)), 0);
	if (lines * height * LINE_HEIGHT * Math.max(width, height) > MAX_TEXT_PIXELS)
		throw new ImageFault("not-possible", `The text is too long for letters of ${height} px on this image`);
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&apos;" };

/** Escapes plain text for Pango's markup, and removes characters that text never has. */
function escapeMarkup(text: string): string {
	return text
		.toWellFormed()
		.replaceAll(/[^\P{Cc}\n]/gu, " ")
		.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] ?? sign);
}
