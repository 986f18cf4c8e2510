import { ImageFault } from "../port.ts";
import type { Canvas } from "./canvas.ts";
import { type Colour, rgbaOf } from "./colours.ts";

/** The tolerance of a channel around the background's colour. */
const TOLERANCE = 28;
/** Pixels next to the background with up to this difference belong partly to it: the soft edge of the subject. */
const SOFT_TOLERANCE = 3 * TOLERANCE;
/** The minimum share of the image's edge that has one colour. */
const MIN_PLAIN_SHARE = 0.9;

/**
 * Removes a background of one colour: pixels of the edge's colour that are connected to it. It does not recognise content, so a
 * background of several colours is refused.
 * @throws {ImageFault} `not-possible`
 */
export function withBackground(canvas: Canvas, colour: Colour): Canvas {
	const distance = distanceFrom(canvas, backgroundColour(canvas));
	const selected = joinedToEdge(canvas, (pixel) => distance(pixel) <= TOLERANCE);
	const { r, g, b, alpha } = rgbaOf(colour);
	const under = [r, g, b] as const;
	const data = new Uint8Array(canvas.data);
	for (let pixel = 0; pixel < selected.length; pixel += 1) {
		const visibleShare =
			selected[pixel] === 1 ? 0 : touches(canvas, selected, pixel) ? Math.min(1, distance(pixel) / SOFT_TOLERANCE) : 1;
		if (visibleShare === 1) continue;
		const own = ((canvas.data[pixel * 4 + 3] ?? 0) / 255) * visibleShare;
		const below = alpha * (1 - own);
		const opacity = own + below;
		for (const [channel, value] of under.entries()) {
			const mixed = opacity === 0 ? 0 : ((canvas.data[pixel * 4 + channel] ?? 0) * own + value * below) / opacity;
			data[pixel * 4 + channel] = Math.round(mixed);
		}
		data[pixel * 4 + 3] = Math.round(opacity * 255);
	}
	return { ...canvas, data };
}

/** Returns a pixel's difference in its furthest channel; transparent pixels count as background. */
function distanceFrom({ data }: Canvas, colour: readonly number[]): (pixel: number) => number {
	const [r = 0, g = 0, b = 0] = colour;
	return (pixel) => {
		const at = pixel * 4;
		if (data[at + 3] === 0) return 0;
		return Math.max(Math.abs((data[at] ?? 0) - r), Math.abs((data[at + 1] ?? 0) - g), Math.abs((data[at + 2] ?? 0) - b));
	};
}

function edgePixels({ width, height }: Canvas): number[] {
	const across = Array.from({ length: width }, (_, x) => [x, (height - 1) * width + x]);
	const down = Array.from({ length: height }, (_, y) => [y * width, y * width + width - 1]);
	return [...across, ...down].flat();
}

/** Returns the mean colour of the edge if nearly all of it is near that. */
function backgroundColour(canvas: Canvas): number[] {
	const edge = edgePixels(canvas);
	const middle = [0, 1, 2].map((channel) => {
		const values = edge.map((pixel) => canvas.data[pixel * 4 + channel] ?? 0).sort((a, b) => a - b);
		return values[Math.floor(values.length / 2)] ?? 0;
	});
	const distance = distanceFrom(canvas, middle);
	const plain = edge.filter((pixel) => distance(pixel) <= TOLERANCE).length / edge.length;
	if (plain < MIN_PLAIN_SHARE)
		throw new ImageFault(
			"not-possible",
			`Only a plain background can be removed here: ${Math.round(plain * 100)}% of this image's edge has one colour`,
		);
	return middle;
}

/** Returns 1 for every matching pixel that is connected to the edge by such pixels. */
function joinedToEdge(canvas: Canvas, fits: (pixel: number) => boolean): Uint8Array {
	const { width, height } = canvas;
	const selected = new Uint8Array(width * height);
	const open: number[] = [];
	const visit = (pixel: number) => {
		if (selected[pixel] === 1 || !fits(pixel)) return;
		selected[pixel] = 1;
		open.push(pixel);
	};
	for (const pixel of edgePixels(canvas)) visit(pixel);
	for (let pixel = open.pop(); pixel !== undefined; pixel = open.pop()) {
		const x = pixel % width;
		if (x > 0) visit(pixel - 1);
		if (x < width - 1) visit(pixel + 1);
		if (pixel >= width) visit(pixel - width);
		if (pixel < width * (height - 1)) visit(pixel + width);
	}
	return selected;
}

function touches({ width }: Canvas, selected: Uint8Array, pixel: number): boolean {
	const x = pixel % width;
	return (
		(x > 0 && selected[pixel - 1] === 1) ||
		(x < width - 1 && selected[pixel + 1] === 1) ||
		selected[pixel - width] === 1 ||
		selected[pixel + width] === 1
	);
}
