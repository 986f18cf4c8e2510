/** Fills a region from its surroundings. Import it from the child only: OpenCV takes a second to load. */
import { ImageFault } from "../port.ts";
import { type Canvas, sharpOf, toCanvas } from "./canvas.ts";

interface Matrix {
	readonly data: Uint8Array;
	delete(): void;
}

/** The used part of OpenCV. */
interface InpaintLibrary {
	readonly Mat: new (rows: number, columns: number, type: number) => Matrix;
	readonly CV_8UC1: number;
	readonly CV_8UC3: number;
	readonly INPAINT_NS: number;
	inpaint(source: Matrix, mask: Matrix, result: Matrix, radius: number, method: number): void;
}

/** The method's radius around a pixel, and the margin of surroundings that it receives. */
const RADIUS = 5;
const MARGIN = 24;
/** Larger regions are filled at a smaller scale, to save time and memory: their middle is soft in any case. */
const MAX_MASKED_PIXELS = 1_000_000;
const MAX_AREA_PIXELS = 12_000_000;
const IS_MASKED = 128;

let loading: Promise<InpaintLibrary> | undefined;

async function library(): Promise<InpaintLibrary> {
	const module: { readonly default?: unknown } = await import("@techstark/opencv-js");
	const loaded: unknown = await module.default;
	if (!isInpaintLibrary(loaded)) throw new Error("OpenCV has no inpainting here");
	return loaded;
}

function isInpaintLibrary(value: unknown): value is InpaintLibrary {
	return typeof value === "object" && value !== null && "inpaint" in value && "Mat" in value && "INPAINT_NS" in value;
}

/**
 * Fills the masked region by the Navier-Stokes method (Bertalmio, Bertozzi, Sapiro, 2001): colours continue from the rim to the
 * middle. It invents nothing: a large region becomes smooth. OpenCV's other method, Telea's, becomes brighter with each pixel
 * from the rim.
 * @param mask a byte for each pixel, masked from 128 on
 * @throws {ImageFault} `not-possible`
 */
export async function inpaint(canvas: Canvas, mask: Uint8Array): Promise<Canvas> {
	const area = surroundings(canvas, mask);
	const scale = Math.sqrt(Math.min(1, MAX_MASKED_PIXELS / area.maskedPixels, MAX_AREA_PIXELS / (area.width * area.height)));
	const size = { width: Math.max(1, Math.round(area.width * scale)), height: Math.max(1, Math.round(area.height * scale)) };
	const { left, top, width, height } = area;
	// Samples single pixels, because a mean would carry masked colours beyond the mask.
	const part = await toCanvas(
		sharpOf(canvas)
			.extract({ left, top, width, height })
			.resize({ ...size, fit: "fill", kernel: "nearest" }),
	);
	const partMask = masksOf(canvas, mask, area, size);
	if (partMask.every((masked) => masked === 1))
		throw new ImageFault("not-possible", "The mask covers the whole image: nothing is left to fill it from");
	loading ??= library();
	const small = fill(await loading, part, partMask);
	const filled = scale === 1 ? small : await toCanvas(sharpOf(small).resize({ width, height, fit: "fill" }));
	return pasteArea(canvas, mask, filled, area);
}

interface Area {
	readonly left: number;
	readonly top: number;
	readonly width: number;
	readonly height: number;
	/** The number of masked pixels in it. */
	readonly maskedPixels: number;
}

/** Returns the masked region with a margin around it. */
function surroundings({ width, height }: Canvas, mask: Uint8Array): Area {
	let [left, top, right, bottom, maskedPixels] = [width, height, -1, -1, 0];
	for (let y = 0, pixel = 0; y < height; y += 1)
		for (let x = 0; x < width; x += 1, pixel += 1) {
			if ((mask[pixel] ?? 0) < IS_MASKED) continue;
			maskedPixels += 1;
			if (x < left) left = x;
			if (x > right) right = x;
			if (y < top) top = y;
			bottom = y;
		}
	const from = { left: Math.max(0, left - MARGIN), top: Math.max(0, top - MARGIN) };
	return {
		...from,
		maskedPixels,
		width: Math.min(width, right + MARGIN + 1) - from.left,
		height: Math.min(height, bottom + MARGIN + 1) - from.top,
	};
}

/** Returns the mask of an area at another scale: a pixel is masked if any of its source pixels is. */
function masksOf(canvas: Canvas, mask: Uint8Array, area: Area, size: { width: number; height: number }): Uint8Array {
	const scaled = new Uint8Array(size.width * size.height);
	for (let y = 0; y < area.height; y += 1) {
		const row = Math.floor((y * size.height) / area.height) * size.width;
		const from = (area.top + y) * canvas.width + area.left;
		for (let x = 0; x < area.width; x += 1)
			if ((mask[from + x] ?? 0) >= IS_MASKED) scaled[row + Math.floor((x * size.width) / area.width)] = 1;
	}
	return scaled;
}

function fill(cv: InpaintLibrary, { data, width, height }: Canvas, mask: Uint8Array): Canvas {
	const source = new cv.Mat(height, width, cv.CV_8UC3);
	const maskMat = new cv.Mat(height, width, cv.CV_8UC1);
	const result = new cv.Mat(height, width, cv.CV_8UC3);
	try {
		copyColours(data, 4, source.data, 3);
		maskMat.data.set(mask);
		cv.inpaint(source, maskMat, result, RADIUS, cv.INPAINT_NS);
		const rgba = new Uint8Array(width * height * 4).fill(255);
		copyColours(result.data, 3, rgba, 4);
		return { data: rgba, width, height };
	} finally {
		for (const matrix of [source, maskMat, result]) matrix.delete();
	}
}

/** Copies red, green and blue of every pixel between buffers with these numbers of bytes per pixel. */
function copyColours(from: Uint8Array, fromBytes: number, to: Uint8Array, toBytes: number): void {
	for (let source = 0, target = 0; source < from.length; source += fromBytes, target += toBytes)
		for (let channel = 0; channel < 3; channel += 1) to[target + channel] = from[source + channel] ?? 0;
}

/** Takes masked pixels from the filled area, opaque; the rest stays. */
function pasteArea(canvas: Canvas, mask: Uint8Array, filled: Canvas, area: Area): Canvas {
	const data = new Uint8Array(canvas.data);
	for (let y = 0; y < area.height; y += 1)
		for (let x = 0; x < area.width; x += 1) {
			const pixel = (area.top + y) * canvas.width + area.left + x;
			if ((mask[pixel] ?? 0) < IS_MASKED) continue;
			const from = (y * area.width + x) * 4;
			for (let channel = 0; channel < 4; channel += 1) data[pixel * 4 + channel] = filled.data[from + channel] ?? 0;
		}
	return { ...canvas, data };
}
