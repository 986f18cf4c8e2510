import { requireWritable } from "../pixel-limits.ts";
import { ImageFault } from "../port.ts";
import { type Canvas, laidOver, sharpOf, toCanvas } from "./canvas.ts";
import { rgbaOf } from "./colours.ts";
import { inpaint } from "./inpaint.ts";
import { blend, maskOf } from "./mask.ts";
import type { Decoration, LayerNumber } from "./operation.ts";
import { cornerOf, pixelsOf } from "./places.ts";
import { withBackground } from "./plain-background.ts";
import { textCanvas } from "./text-canvas.ts";

/** The margin between a text and the edges, as a share of the shorter side. */
const TEXT_MARGIN = 0.03;

/**
 * Returns the layer of a number.
 * @throws {ImageFault} `not-possible` if it was not sent
 */
export type LayerOf = (layer: LayerNumber) => Canvas;

/**
 * Applies a decoration.
 * @throws {ImageFault}
 */
export async function applyDecoration(canvas: Canvas, decoration: Decoration, layerOf: LayerOf): Promise<Canvas> {
	switch (decoration.op) {
		case "round": {
			const shorter = Math.min(canvas.width, canvas.height);
			return roundCorners(canvas, Math.min(pixelsOf(decoration.radius, shorter), Math.floor(shorter / 2)));
		}
		case "border": {
			const { px, colour } = decoration;
			requireWritable({ width: canvas.width + 2 * px, height: canvas.height + 2 * px });
			return toCanvas(sharpOf(canvas).extend({ left: px, right: px, top: px, bottom: px, background: rgbaOf(colour) }));
		}
		case "text": {
			const margin = Math.round(Math.min(canvas.width, canvas.height) * TEXT_MARGIN);
			const text = await textCanvas(decoration, canvas, canvas.width - 2 * margin);
			const { x, y } = cornerOf(decoration.at, canvas, text, margin);
			return laidOver(canvas, text, x, y, decoration.opacity / 100);
		}
		case "layer":
			return withLayer(canvas, decoration, layerOf(decoration.layer));
		case "fill":
			return fillBehind(canvas, decoration, layerOf(decoration.mask));
		case "background":
			return withBackground(canvas, decoration.colour);
		case "flatten":
			return toCanvas(sharpOf(canvas).flatten({ background: rgbaOf(decoration.colour) }));
	}
}

async function withLayer(canvas: Canvas, placing: Extract<Decoration, { readonly op: "layer" }>, layer: Canvas): Promise<Canvas> {
	let upper = layer;
	if (placing.width !== null) {
		const width = pixelsOf(placing.width, canvas.width);
		const height = Math.max(1, Math.round((layer.height * width) / layer.width));
		requireWritable({ width, height });
		upper = await toCanvas(sharpOf(layer).resize({ width, height, fit: "fill", kernel: "lanczos3" }));
	}
	const { x, y } = cornerOf(placing.at, canvas, upper);
	return laidOver(canvas, upper, x, y, placing.opacity / 100);
}

async function fillBehind(
	canvas: Canvas,
	{ colour }: Extract<Decoration, { readonly op: "fill" }>,
	layer: Canvas,
): Promise<Canvas> {
	const mask = await maskOf(layer, canvas);
	if (!mask.some((share) => share >= 128))
		throw new ImageFault("not-possible", "The mask masks nothing: what is white in it is masked");
	if (colour === null) return inpaint(canvas, mask);
	const { r, g, b, alpha } = rgbaOf(colour);
	const plain = await toCanvas(sharpOf(canvas).linear([0, 0, 0, 0], [r, g, b, Math.round(alpha * 255)]));
	return blend(canvas, plain, mask);
}

/**
 * Makes corners transparent beyond quarter ellipses, with soft edges.
 * @param across the horizontal radius, at most half the width
 * @param down the vertical radius, at most half the height
 */
export function roundCorners(canvas: Canvas, across: number, down = across): Canvas {
	const { width, height } = canvas;
	const data = new Uint8Array(canvas.data);
	for (let y = 0; y < down; y += 1)
		for (let x = 0; x < across; x += 1) {
			const distance = Math.hypot((across - x - 0.5) / across, (down - y - 0.5) / down);
			const inside = (1 - distance) * Math.min(across, down) + 0.5;
			const share = Math.min(1, Math.max(0, inside));
			if (share === 1) continue;
			for (const [column, row] of [
				[x, y],
				[width - 1 - x, y],
				[x, height - 1 - y],
				[width - 1 - x, height - 1 - y],
			] as const) {
				const at = (row * width + column) * 4;
				data[at + 3] = Math.round((canvas.data[at + 3] ?? 0) * share);
				// The cut-off pixels are erased, not only hidden.
				if (share === 0) data.fill(0, at, at + 3);
			}
		}
	return { ...canvas, data };
}
