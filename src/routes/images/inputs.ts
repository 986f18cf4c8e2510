import { type ImageEngine, ImageFault, type Picture } from "../../engines/images/port.ts";
import type { Requester } from "../../fairness/index.ts";
import { invalidField } from "../../schema/index.ts";
import type { InputPicture } from "../../upstreams/images/port.ts";
import type { ImageDeps } from "./deps.ts";
import { engineOf } from "./safe-picture.ts";
import { bytesOf, type PictureSource } from "./source.ts";

export interface ReadPicture extends InputPicture {
	readonly width: number;
	readonly height: number;
}

/** Returns the bytes of all pictures as received, in order; addresses are read concurrently. */
export function gather(sources: readonly PictureSource[], deps: ImageDeps, requester: Requester): Promise<Uint8Array[]> {
	return Promise.all(sources.map((source) => bytesOf(source, deps, requester)));
}

/**
 * Returns the pictures in a form that servers accept, one after the other. Throws ImageFault that names the faulty one.
 */
export async function readPictures(
	sources: readonly PictureSource[],
	bytes: readonly Uint8Array[],
	deps: ImageDeps,
	requester: Requester,
): Promise<ReadPicture[]> {
	const engine = engineOf(deps);
	const pictures: ReadPicture[] = [];
	for (const [index, { role }] of sources.entries()) {
		const picture = await readNumbered(index, () => engine.normalise(bytes[index] ?? new Uint8Array(0), requester));
		const { width, height, mediaType } = picture;
		const [base] = pictures;
		const isMask = role === "mask" && base !== undefined;
		pictures.push({
			bytes: picture.bytes,
			mediaType,
			role,
			width,
			height,
			...(isMask && { inTwoColours: (changed) => twoColours(engine, [base.bytes, picture.bytes], changed, requester) }),
		});
	}
	return pictures;
}

/**
 * Returns a mask for upstreams that do not use transparency.
 * @throws ApiError INVALID_REQUEST if nothing in it is masked
 */
async function twoColours(
	engine: ImageEngine,
	images: readonly Uint8Array[],
	changed: "white" | "black",
	requester: Requester,
): Promise<Uint8Array> {
	const white = "brightness -100%, flatten on black, fill the mask with white";
	const prompt = changed === "white" ? white : `${white}, invert`;
	try {
		const { bytes } = await engine.localEdit({ prompt, images, output: { format: "png" } }, requester);
		return bytes;
	} catch (error) {
		throw error instanceof ImageFault
			? invalidField(["mask"], "must be a mask: transparent or white somewhere, not all of it")
			: error;
	}
}

async function readNumbered(index: number, read: () => Promise<Picture>): Promise<Picture> {
	try {
		return await read();
	} catch (error) {
		throw error instanceof ImageFault ? new ImageFault(error.kind, error.message, index) : error;
	}
}
