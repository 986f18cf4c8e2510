import type { Sharp } from "sharp";
import { type Canvas, sharpOf, toCanvas } from "./canvas.ts";
import { rgbaOf } from "./colours.ts";
import type { Adjustment } from "./operation.ts";

type Row = [number, number, number];
type Matrix = [Row, Row, Row];

const NARROW_BLUR_PX = 6;

/** The perceived brightness of red, green and blue (Rec. ITU-R BT.709). */
const LIGHT: Row = [0.2126, 0.7152, 0.0722];
/** Filter Effects Module Level 1, 9: sepia(1). */
const SEPIA: Matrix = [
	[0.393, 0.769, 0.189],
	[0.349, 0.686, 0.168],
	[0.272, 0.534, 0.131],
];

export async function applyAdjustment(canvas: Canvas, adjustment: Adjustment): Promise<Canvas> {
	if (adjustment.op === "pixelate") return pixelate(canvas, adjustment.px);
	if (adjustment.op === "blur") return blur(canvas, adjustment.px);
	if (adjustment.op === "vignette") return vignette(canvas, adjustment.percent / 100);
	return toCanvas(adjust(sharpOf(canvas), adjustment));
}

function adjust(image: Sharp, adjustment: Exclude<Adjustment, { readonly op: "pixelate" | "blur" | "vignette" }>): Sharp {
	switch (adjustment.op) {
		case "sharpen":
			return image.sharpen({ sigma: adjustment.amount });
		case "grey":
			return image.recomb(saturation(0));
		case "sepia":
			return image.recomb(SEPIA);
		case "invert":
			return image.negate({ alpha: false });
		case "brightness":
			return scaledChannels(image, 1 + adjustment.percent / 100, [0, 0, 0]);
		case "contrast": {
			const factor = 1 + adjustment.percent / 100;
			const shift = 127.5 * (1 - factor);
			return scaledChannels(image, factor, [shift, shift, shift]);
		}
		case "saturation":
			return image.recomb(saturation(1 + adjustment.percent / 100));
		case "warmth":
			return warm(image, adjustment.percent / 100);
		case "hue":
			return image.recomb(hueTurn((adjustment.degrees * Math.PI) / 180));
		case "tint": {
			const { r, g, b, alpha } = rgbaOf(adjustment.colour);
			const share = (adjustment.percent / 100) * alpha;
			return scaledChannels(image, 1 - share, [r * share, g * share, b * share]);
		}
		case "opacity":
			return image.linear([1, 1, 1, adjustment.percent / 100], [0, 0, 0, 0]);
	}
}

/** A wide blur works on a smaller image: it loses no visible detail, and takes no longer than a narrow one. */
async function blur(canvas: Canvas, sigma: number): Promise<Canvas> {
	const factor = Math.max(1, Math.floor(sigma / NARROW_BLUR_PX));
	if (factor === 1) return toCanvas(sharpOf(canvas).blur(sigma));
	const { width, height } = canvas;
	const size = { width: Math.ceil(width / factor), height: Math.ceil(height / factor) };
	const small = await toCanvas(sharpOf(canvas).resize({ ...size, fit: "fill", kernel: "linear" }));
	const soft = await toCanvas(sharpOf(small).blur(sigma / factor));
	return toCanvas(sharpOf(soft).resize({ width, height, fit: "fill", kernel: "cubic" }));
}

function scaledChannels(image: Sharp, factor: number, [r, g, b]: Row): Sharp {
	return image.linear([factor, factor, factor, 1], [r, g, b, 0]);
}

/** Raises red by half the share and lowers blue by as much, as the white balance of cameras does. */
function warm(image: Sharp, share: number): Sharp {
	return image.linear([Math.max(0, 1 + share / 2), 1, Math.max(0, 1 - share / 2), 1], [0, 0, 0, 0]);
}

/** Filter Effects Module Level 1, 9: saturate(). */
function saturation(factor: number): Matrix {
	const row = (own: number): Row => {
		const [r, g, b] = LIGHT.map((light, index) => light * (1 - factor) + (index === own ? factor : 0));
		return [r ?? 0, g ?? 0, b ?? 0];
	};
	return [row(0), row(1), row(2)];
}

/** Filter Effects Module Level 1, 9: hue-rotate(). */
function hueTurn(radians: number): Matrix {
	const cos = Math.cos(radians);
	const sin = Math.sin(radians);
	return [
		[0.213 + cos * 0.787 - sin * 0.213, 0.715 - cos * 0.715 - sin * 0.715, 0.072 - cos * 0.072 + sin * 0.928],
		[0.213 - cos * 0.213 + sin * 0.143, 0.715 + cos * 0.285 + sin * 0.14, 0.072 - cos * 0.072 - sin * 0.283],
		[0.213 - cos * 0.213 - sin * 0.787, 0.715 - cos * 0.715 + sin * 0.715, 0.072 + cos * 0.928 + sin * 0.072],
	];
}

/** Darkens by the square of the distance from the middle: not at all there, by the whole share in the corners. */
function vignette({ data, width, height }: Canvas, share: number): Canvas {
	const result = new Uint8Array(data);
	for (let y = 0, at = 0; y < height; y += 1)
		for (let x = 0; x < width; x += 1, at += 4) {
			const across = (2 * x + 1) / width - 1;
			const down = (2 * y + 1) / height - 1;
			const light = 1 - (share * (across * across + down * down)) / 2;
			for (let channel = at; channel < at + 3; channel += 1) result[channel] = Math.round((data[channel] ?? 0) * light);
		}
	return { data: result, width, height };
}

/** Replaces squares, from the upper left corner on, by their mean colour. */
function pixelate({ data, width, height }: Canvas, px: number): Canvas {
	const result = new Uint8Array(data.length);
	for (let top = 0; top < height; top += px)
		for (let left = 0; left < width; left += px) {
			const right = Math.min(width, left + px);
			const bottom = Math.min(height, top + px);
			const mean = meanOf(data, width, left, top, right, bottom);
			for (let y = top; y < bottom; y += 1) for (let x = left; x < right; x += 1) result.set(mean, (y * width + x) * 4);
		}
	return { data: result, width, height };
}

/** Returns the mean colour; transparent pixels do not count. */
function meanOf(data: Uint8Array, width: number, left: number, top: number, right: number, bottom: number): Uint8Array {
	const sums: [number, number, number] = [0, 0, 0];
	let opacity = 0;
	for (let y = top; y < bottom; y += 1)
		for (let x = left, at = (y * width + left) * 4; x < right; x += 1, at += 4) {
			const alpha = data[at + 3] ?? 0;
			opacity += alpha;
			sums[0] += (data[at] ?? 0) * alpha;
			sums[1] += (data[at + 1] ?? 0) * alpha;
			sums[2] += (data[at + 2] ?? 0) * alpha;
		}
	const pixels = (right - left) * (bottom - top);
	return Uint8Array.from([...sums.map((sum) => Math.round(sum / Math.max(1, opacity))), Math.round(opacity / pixels)]);
}
