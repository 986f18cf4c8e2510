/** The views of an image for the adult-content model. Import it from the child only. */
import sharp, { type Sharp } from "sharp";
import { openImage } from "../pixels/open-image.ts";
import { WHITE } from "../pixels/write-image.ts";
import { VIEW_SIDE } from "./child-work.ts";

/** The model's training images had this size before their borders were cropped to `VIEW_SIDE`. */
const WHOLE_SIDE = 256;
/** The minimum side of a tile: a smaller image has none. */
const MIN_TILE_SIDE = 512;
/** Neighbouring tiles overlap by this share, so that content across a border is whole, or nearly whole, in one of them. */
const OVERLAP = 1 / 3;
export const MAX_TILES = 30;

export interface Tile {
	readonly left: number;
	readonly top: number;
	readonly side: number;
}

/**
 * Returns overlapping squares that cover an image to its edges, at most `MAX_TILES`; none if the whole shows enough. A side
 * shorter than a tile is covered by one row.
 */
export function tilesOf(width: number, height: number): Tile[] {
	if (Math.max(width, height) <= MIN_TILE_SIDE) return [];
	let side = MIN_TILE_SIDE;
	while (starts(width, side).length * starts(height, side).length > MAX_TILES) side = Math.ceil(side * 1.05);
	return starts(height, side).flatMap((top) => starts(width, side).map((left) => ({ left, top, side })));
}

/** Returns the starts of tiles along one side, evenly spaced, the last one ending at the edge. */
function starts(length: number, side: number): number[] {
	if (length <= side) return [0];
	const steps = Math.ceil((length - side) / (side * (1 - OVERLAP)));
	return Array.from({ length: steps + 1 }, (_, index) => Math.round(((length - side) * index) / steps));
}

/**
 * Returns views of `VIEW_BYTES`, one after the other: the whole first, then its tiles.
 * @throws {ImageFault}
 */
export async function viewsOf(bytes: Uint8Array): Promise<Uint8Array> {
	const { image } = await openImage(bytes);
	const { data, info } = await image.flatten({ background: WHITE }).raw().toBuffer({ resolveWithObject: true });
	const { width, height, channels } = info;
	const whole = () => sharp(data, { raw: { width, height, channels } });
	const views = [await wholeView(whole())];
	for (const { left, top, side } of tilesOf(width, height)) {
		const area = { left, top, width: Math.min(side, width), height: Math.min(side, height) };
		views.push(
			await pixels(
				whole()
					.extract(area)
					.resize({ ...VIEW, fit: "fill", kernel: "linear" }),
			),
		);
	}
	return Buffer.concat(views);
}

const VIEW = { width: VIEW_SIDE, height: VIEW_SIDE };

/** Prepares the whole image like the training images: made square, cropped to the middle, and compressed once as JPEG. */
async function wholeView(image: Sharp): Promise<Uint8Array> {
	const margin = (WHOLE_SIDE - VIEW_SIDE) / 2;
	const middle = image
		.resize({ width: WHOLE_SIDE, height: WHOLE_SIDE, fit: "fill", kernel: "linear" })
		.extract({ left: margin, top: margin, ...VIEW });
	return pixels(sharp(await middle.jpeg({ quality: 75, chromaSubsampling: "4:2:0" }).toBuffer()));
}

const pixels = (image: Sharp): Promise<Uint8Array> => image.toColourspace("srgb").raw().toBuffer();
