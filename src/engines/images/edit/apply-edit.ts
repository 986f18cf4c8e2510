/** Applies the edits of a prompt. Import it from the child only. */
import { readFault } from "../pixels/open-image.ts";
import { writeImage } from "../pixels/write-image.ts";
import { ImageFault, MIN_IMAGE_PIXELS, type OutputFormat, type Picture } from "../port.ts";
import { applyAdjustment } from "./apply-adjustment.ts";
import { applyDecoration, type LayerOf } from "./apply-decoration.ts";
import { applyReshaping } from "./apply-reshaping.ts";
import { type Canvas, isOpaque, openCanvas, sharpOf } from "./canvas.ts";
import { blend, maskOf } from "./mask.ts";
import type { Operation } from "./operation.ts";

const LARGE_BYTES = 8 * 2 ** 20;

/**
 * Applies operations to images.
 * @param images the base, then its layers
 * @throws {ImageFault}
 */
export async function applyEdit(
	operations: readonly Operation[],
	images: readonly Uint8Array[],
	output: OutputFormat,
): Promise<Picture> {
	const layers = new Map<number, Canvas>();
	// Every image is decoded even if the prompt does not use it, so that a broken one is reported. Only used ones are kept.
	const [base, ...others] = images;
	let canvas = await openAt(base ?? new Uint8Array(), 0);
	for (const [index, bytes] of others.entries()) {
		const layer = await openAt(bytes, index + 1);
		if (operations.some((operation) => layerIn(operation) === index + 2)) layers.set(index + 2, layer);
		letGo(layer);
	}
	const layerOf: LayerOf = (number) => {
		const layer = layers.get(number);
		if (layer !== undefined) return layer;
		throw new ImageFault("not-possible", `There is no layer ${number}: ${images.length === 1 ? "one image" : "two images"} came`);
	};
	for (const operation of operations) {
		canvas = await applyOperation(canvas, operation, layerOf);
		letGo(canvas);
	}
	const result = sharpOf(canvas);
	return writeImage(isOpaque(canvas) ? result.removeAlpha() : result, output);
}

async function applyOperation(canvas: Canvas, operation: Operation, layerOf: LayerOf): Promise<Canvas> {
	switch (operation.op) {
		case "blur":
		case "pixelate":
		case "sharpen":
		case "grey":
		case "sepia":
		case "invert":
		case "brightness":
		case "contrast":
		case "saturation":
		case "warmth":
		case "hue":
		case "tint":
		case "vignette":
		case "opacity": {
			const mask = operation.mask === null ? null : await maskOf(layerOf(operation.mask), canvas);
			const changed = await applyAdjustment(canvas, operation);
			return mask === null ? changed : blend(canvas, changed, mask);
		}
		case "round":
		case "border":
		case "text":
		case "layer":
		case "fill":
		case "background":
		case "flatten":
			return applyDecoration(canvas, operation, layerOf);
		default:
			return applyReshaping(canvas, operation);
	}
}

/**
 * Releases the pixels of the previous step: the garbage collector sees small objects, not the hundreds of megabytes behind
 * them.
 */
function letGo({ data }: Canvas): void {
	if (data.length > LARGE_BYTES) Bun.gc(true);
}

function layerIn(operation: Operation): number | null {
	if (operation.op === "layer") return operation.layer;
	return "mask" in operation ? operation.mask : null;
}

async function openAt(bytes: Uint8Array, index: number): Promise<Canvas> {
	try {
		return await openCanvas(bytes, MIN_IMAGE_PIXELS);
	} catch (thrown) {
		const fault = readFault(thrown);
		throw fault instanceof ImageFault ? new ImageFault(fault.kind, fault.message, index) : fault;
	}
}
