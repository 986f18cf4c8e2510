import { type Canvas, isOpaque, sharpOf, toCanvas } from "./canvas.ts";

/**
 * Returns a layer's mask, a byte for each pixel of the base, 255 for fully masked. If the layer has transparency, transparent
 * pixels are masked; otherwise white ones are.
 */
export async function maskOf(layer: Canvas, { width, height }: Canvas): Promise<Uint8Array> {
	const byLight = isOpaque(layer);
	const fits = layer.width === width && layer.height === height;
	const { data } = fits ? layer : await toCanvas(sharpOf(layer).resize({ width, height, fit: "fill", kernel: "linear" }));
	const mask = new Uint8Array(width * height);
	for (let pixel = 0, at = 0; pixel < mask.length; pixel += 1, at += 4)
		mask[pixel] = byLight
			? Math.round(0.2126 * (data[at] ?? 0) + 0.7152 * (data[at + 1] ?? 0) + 0.0722 * (data[at + 2] ?? 0))
			: 255 - (data[at + 3] ?? 0);
	return mask;
}

/** Returns one image where the mask is set and the other elsewhere; both have the same size. */
export function blend(base: Canvas, changed: Canvas, mask: Uint8Array): Canvas {
	const data = new Uint8Array(base.data);
	for (let pixel = 0, at = 0; pixel < mask.length; pixel += 1, at += 4) {
		const share = mask[pixel] ?? 0;
		if (share === 0) continue;
		for (let channel = at; channel < at + 4; channel += 1)
			data[channel] = Math.round(((base.data[channel] ?? 0) * (255 - share) + (changed.data[channel] ?? 0) * share) / 255);
	}
	return { ...base, data };
}
