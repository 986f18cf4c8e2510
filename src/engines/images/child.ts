/** The process that decodes, edits and writes images: hostile ones take its time and memory, never the server's. */
import { serveParent } from "../child-side.ts";
import type { ImageDone, ImageWork } from "./child-work.ts";
import { applyEdit } from "./edit/apply-edit.ts";
import { blur } from "./pixels/blur.ts";
import { finish } from "./pixels/finish.ts";
import { normalise } from "./pixels/normalise.ts";
import { readFault } from "./pixels/open-image.ts";
import { upscale } from "./pixels/upscale.ts";
import { ImageFault, MIN_IMAGE_PIXELS, type Picture } from "./port.ts";
import { viewsOf } from "./score/tiles.ts";

let working = false;

async function pictureOf(work: Exclude<ImageWork, { readonly do: "views" }>): Promise<Picture> {
	switch (work.do) {
		case "normalise":
			return normalise(work.bytes, work.minPixels);
		case "finish":
			return finish(work.bytes, work.options);
		case "blur":
			return blur(work.bytes, work.output);
		case "upscale":
			return upscale(work.bytes, work.to, work.output, MIN_IMAGE_PIXELS);
		case "edit":
			return applyEdit(work.operations, work.images, work.output);
	}
}

async function done(work: ImageWork): Promise<Omit<ImageDone, "id">> {
	try {
		return work.do === "views" ? { views: await viewsOf(work.bytes) } : { picture: await pictureOf(work) };
	} catch (thrown) {
		const fault = readFault(thrown);
		if (!(fault instanceof ImageFault)) throw thrown;
		const { kind, message, imageIndex } = fault;
		return { fault: { kind, message, ...(imageIndex === undefined ? {} : { imageIndex }) } };
	}
}

serveParent({
	start: async () => null,
	async work(message) {
		const work = message as ImageWork & { readonly id: number };
		working = true;
		try {
			return { id: work.id, ...(await done(work)) };
		} finally {
			working = false;
		}
	},
	busy: () => working,
});
