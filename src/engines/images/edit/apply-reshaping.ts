import type { PixelSize } from "../image-header.ts";
import { requireWritable } from "../pixel-limits.ts";
import { ImageFault } from "../port.ts";
import { roundCorners } from "./apply-decoration.ts";
import { type Canvas, laidOver, sharpOf, toCanvas } from "./canvas.ts";
import { type Colour, rgbaOf } from "./colours.ts";
import type { Reshaping } from "./operation.ts";
import { cornerOf, pixelsOf } from "./places.ts";

const FITS = { cropped: "cover", padded: "contain", stretched: "fill", fitted: "inside" } as const;
const CLEAR = { r: 0, g: 0, b: 0, alpha: 0 };

/**
 * Applies a reshaping.
 * @throws {ImageFault} `not-possible`
 */
export async function applyReshaping(canvas: Canvas, reshaping: Reshaping): Promise<Canvas> {
	switch (reshaping.op) {
		case "resize":
			return resize(canvas, reshaping, FITS[reshaping.how]);
		case "resize-side": {
			const factor = reshaping.px / canvas[reshaping.side];
			return resize(canvas, { ...scaledSize(canvas, factor), [reshaping.side]: reshaping.px }, "fill");
		}
		case "scale":
			return resize(canvas, scaledSize(canvas, reshaping.percent / 100), "fill");
		case "crop":
			return cut(canvas, reshaping, cornerOf(reshaping.at, canvas, reshaping));
		case "crop-share": {
			const size = scaledSize(canvas, reshaping.percent / 100);
			return cut(canvas, size, cornerOf(reshaping.at, canvas, size));
		}
		case "crop-ratio": {
			const size = largestOfRatio(canvas, reshaping.width / reshaping.height);
			return cut(canvas, size, cornerOf(reshaping.at, canvas, size));
		}
		case "crop-circle": {
			const size = largestOfRatio(canvas, 1);
			const square = await cut(canvas, size, cornerOf(reshaping.at, canvas, size));
			return roundCorners(square, Math.floor(size.width / 2));
		}
		case "crop-ellipse":
			return roundCorners(canvas, Math.floor(canvas.width / 2), Math.floor(canvas.height / 2));
		case "crop-edges":
			return withoutEdges(canvas, reshaping.px);
		case "cut":
			return withoutSide(canvas, reshaping);
		case "trim":
			return trim(canvas);
		case "pad":
			return pad(canvas, reshaping, reshaping.colour);
		case "rotate":
			return rotate(canvas, reshaping.degrees, reshaping.colour);
		case "flip":
			return toCanvas(reshaping.axis === "vertically" ? sharpOf(canvas).flip() : sharpOf(canvas).flop());
	}
}

function scaledSize({ width, height }: PixelSize, factor: number): PixelSize {
	return { width: Math.max(1, Math.round(width * factor)), height: Math.max(1, Math.round(height * factor)) };
}

function largestOfRatio({ width, height }: PixelSize, ratio: number): PixelSize {
	const wide = width / height > ratio;
	return {
		width: wide ? Math.max(1, Math.round(height * ratio)) : width,
		height: wide ? height : Math.max(1, Math.round(width / ratio)),
	};
}

function resize(canvas: Canvas, { width, height }: PixelSize, fit: "cover" | "contain" | "fill" | "inside"): Promise<Canvas> {
	requireWritable({ width, height });
	return toCanvas(sharpOf(canvas).resize({ width, height, fit, background: CLEAR, kernel: "lanczos3" }));
}

function cut(canvas: Canvas, { width, height }: PixelSize, { x, y }: { x: number; y: number }): Promise<Canvas> {
	if (x < 0 || y < 0 || x + width > canvas.width || y + height > canvas.height)
		throw new ImageFault(
			"not-possible",
			`A crop to ${width}x${height} at ${x},${y} goes beyond the image, which has ${canvas.width}x${canvas.height} pixels`,
		);
	return toCanvas(sharpOf(canvas).extract({ left: x, top: y, width, height }));
}

function withoutSide(canvas: Canvas, { side, by }: Extract<Reshaping, { readonly op: "cut" }>): Promise<Canvas> {
	const across = side === "left" || side === "right";
	const whole = across ? canvas.width : canvas.height;
	const px = pixelsOf(by, whole);
	if (px >= whole) throw new ImageFault("not-possible", `Without ${px} px from the ${side} nothing is left of the image`);
	const size = { width: canvas.width - (across ? px : 0), height: canvas.height - (across ? 0 : px) };
	return cut(canvas, size, { x: side === "left" ? px : 0, y: side === "top" ? px : 0 });
}

function withoutEdges(canvas: Canvas, px: number): Promise<Canvas> {
	const size = { width: canvas.width - 2 * px, height: canvas.height - 2 * px };
	if (size.width <= 0 || size.height <= 0)
		throw new ImageFault("not-possible", `Without ${px} px from each side nothing is left of the image`);
	return cut(canvas, size, { x: px, y: px });
}

async function trim(canvas: Canvas): Promise<Canvas> {
	// An image of one colour has no edges, so it stays unchanged.
	const image = sharpOf(canvas).trim({ threshold: 10 });
	return toCanvas(image).catch(() => canvas);
}

/** Places the image in the middle of a larger canvas, and reduces it first if it does not fit. */
async function pad(canvas: Canvas, { width, height }: PixelSize, colour: Colour): Promise<Canvas> {
	requireWritable({ width, height });
	const factor = Math.min(1, width / canvas.width, height / canvas.height);
	const inner = factor === 1 ? canvas : await resize(canvas, scaledSize(canvas, factor), "fill");
	const { x, y } = cornerOf("center", { width, height }, inner);
	const right = width - inner.width - x;
	const bottom = height - inner.height - y;
	return toCanvas(sharpOf(inner).extend({ left: x, top: y, right, bottom, background: rgbaOf(colour) }));
}

async function rotate(canvas: Canvas, degrees: number, colour: Colour): Promise<Canvas> {
	const radians = (degrees * Math.PI) / 180;
	const [sin, cos] = [Math.abs(Math.sin(radians)), Math.abs(Math.cos(radians))];
	requireWritable({
		width: Math.floor(canvas.width * cos + canvas.height * sin),
		height: Math.floor(canvas.width * sin + canvas.height * cos),
	});
	const turned = await toCanvas(sharpOf(canvas).rotate(degrees, { background: CLEAR }));
	const background = rgbaOf(colour);
	if (degrees % 90 === 0 || background.alpha === 0) return turned;
	// The image covers its colour, so transparent pixels inside it show the colour's opacity.
	const ground = await toCanvas(
		sharpOf(turned).linear([0, 0, 0, 0], [background.r, background.g, background.b, Math.round(background.alpha * 255)]),
	);
	return laidOver(ground, turned, 0, 0, 1);
}
