/** The interface of image processing on this machine. */

import { ApiError, type Issue } from "../../errors/index.ts";
import type { Requester } from "../../fairness/index.ts";

/** 25 MiB: a larger image, or one of this size, is refused with 413. */
export const MAX_IMAGE_BYTES = 26_214_400;
/** 256 x 256: an image with fewer pixels is refused. */
export const MIN_IMAGE_PIXELS = 65_536;
/** 7680 x 4320: an image with more pixels is refused by its header, before anything is decoded. */
export const MAX_IMAGE_PIXELS = 33_177_600;
/** 4096 x 4096: the limit of an upscaled image. */
export const MAX_UPSCALED_PIXELS = 16_777_216;
/** The base picture and its layers or masks. */
export const MAX_EDIT_IMAGES = 3;

const IMAGE_FORMATS = ["png", "jpeg", "webp"] as const;
/** The output formats. Routes translate `jpg`. */
export type ImageFormat = (typeof IMAGE_FORMATS)[number];

export const IMAGE_MEDIA_TYPES: Readonly<Record<ImageFormat, `image/${ImageFormat}`>> = {
	png: "image/png",
	jpeg: "image/jpeg",
	webp: "image/webp",
};

/** An image that this engine wrote: upright, sRGB, 8 bits a channel, one frame, without metadata. */
export interface Picture {
	readonly bytes: Uint8Array;
	readonly mediaType: `image/${ImageFormat}`;
	readonly width: number;
	readonly height: number;
	readonly hasAlpha: boolean;
}

export interface OutputFormat {
	readonly format: ImageFormat;
	/** 1 to 100, for jpeg and webp. Default 92. */
	readonly quality?: number;
}

export interface FinishOptions extends OutputFormat {
	/** In pixels; absent: the image's own size. */
	readonly size?: { readonly width: number; readonly height: number };
	/**
	 * How the image is fitted to `size`. `cover` (default): filled, the excess is cropped evenly on both sides. `contain`: whole,
	 * with transparent borders, white ones in jpeg. `fill`: stretched. `inside`: whole, without borders, so one side may be
	 * shorter.
	 */
	readonly fit?: "cover" | "contain" | "fill" | "inside";
	/** False: an image smaller than `size` is only cropped to the ratio. Default true. */
	readonly enlarge?: boolean;
}

export interface LocalEdit {
	/** The edits, in the language of docs/images.md, Local editing. */
	readonly prompt: string;
	/** 1 to `MAX_EDIT_IMAGES`, as callers sent them: the base first, then layers or masks that the prompt uses. */
	readonly images: readonly Uint8Array[];
	readonly output: OutputFormat;
}

export type Enlargement = { readonly factor: number } | { readonly width: number; readonly height: number };

export type ScorerState =
	| { readonly state: "ready"; readonly text: string }
	/** The text gives the reason and the progress; callers may see it. */
	| { readonly state: "offline"; readonly text: string };

/** Why an image or a prompt is refused. */
export type ImageFaultKind =
	/** Not an image, or of an unsupported type (SVG, PDF, HEIC without a decoder). */
	| "unsupported"
	/** Truncated or damaged. */
	| "corrupt"
	/** Fewer than `MIN_IMAGE_PIXELS`. */
	| "too-small"
	/** More than `MAX_IMAGE_PIXELS`, in or out. */
	| "too-many-pixels"
	/** More than `MAX_IMAGE_BYTES`. */
	| "too-many-bytes"
	/** It took more time or memory than allowed. */
	| "too-costly"
	/** Local editing does not understand the prompt: `message` names the words and lists the possible edits. */
	| "not-understood"
	/** The prompt does not fit these images: a crop outside, a layer that was not sent. */
	| "not-possible";

/** A fault of the caller's input, not of this server. The message may be sent to a caller. */
export class ImageFault extends Error {
	override readonly name = "ImageFault";
	readonly kind: ImageFaultKind;
	/** For local editing: the index of the faulty image, from 0. */
	readonly imageIndex: number | undefined;

	constructor(kind: ImageFaultKind, message: string, imageIndex?: number) {
		super(message);
		this.kind = kind;
		this.imageIndex = imageIndex;
	}
}

const API_CODES = {
	unsupported: "CORRUPTED_IMAGE",
	corrupt: "CORRUPTED_IMAGE",
	"too-small": "IMAGE_TOO_SMALL",
	"too-many-pixels": "IMAGE_TOO_LARGE",
	"too-many-bytes": "PAYLOAD_TOO_LARGE",
	"too-costly": "INVALID_REQUEST",
	"not-understood": "INVALID_REQUEST",
	"not-possible": "INVALID_REQUEST",
} as const satisfies Readonly<Record<ImageFaultKind, string>>;

/**
 * Returns the answer to a caller with a faulty image or prompt (docs/images.md, Refusals).
 * @param param the field of the image, `image` or `images`; for a prompt's fault it is `prompt`
 */
export function imageFaultAnswer(fault: ImageFault, param: string): ApiError {
	const ofPrompt = fault.kind === "not-understood" || fault.kind === "not-possible";
	const place = ofPrompt ? "prompt" : param;
	const path: Issue["path"] = ofPrompt || fault.imageIndex === undefined ? [place] : [place, fault.imageIndex];
	const code = `${ofPrompt ? "prompt" : "image"}_${fault.kind.replaceAll("-", "_")}`;
	return new ApiError(API_CODES[fault.kind], {
		message: fault.message,
		param: place,
		issues: [{ path, code, message: fault.message }],
	});
}

/**
 * Processes images in child processes. Every method that takes bytes takes them as a caller sent them, detects their type by
 * content, and throws:
 * - ImageFault: the image or the prompt is at fault
 * - ApiError MODEL_OVERLOADED (429, with Retry-After): too many images wait; SERVICE_UNAVAILABLE: the process does not start
 * - the reason of the requester's signal, if the caller left; its work is aborted
 * The input bytes are not changed, and are released when the promise settles.
 */
export interface ImageEngine {
	/**
	 * Returns an image in the common form: upright, sRGB, 8 bits, its first frame, without metadata. It is PNG if it has
	 * transparency or was lossless, otherwise JPEG. Pixels and bytes are within the limits above.
	 * @param limits default `MIN_IMAGE_PIXELS`; 0 for an upstream's answer
	 */
	normalise(bytes: Uint8Array, requester: Requester, limits?: { readonly minPixels?: number }): Promise<Picture>;
	/** Returns an image in the requested size and format. Transparency becomes white in jpeg. There is no minimum of pixels. */
	finish(bytes: Uint8Array, options: FinishOptions, requester: Requester): Promise<Picture>;
	/**
	 * Returns how likely an image is adult content, 0 to 1: of the whole, or of the tile with the highest score if it is large.
	 * @throws {ApiError} MODEL_OFFLINE if the weights are missing, with the progress in its text
	 */
	score(bytes: Uint8Array, requester: Requester): Promise<number>;
	/** Returns whether `score` would answer now, and otherwise the reason. */
	scorerState(): Promise<ScorerState>;
	/** Starts the download of the scorer's weights if it is needed, without waiting for it. */
	prefetch(): void;
	/** Blurs an image beyond recognition in the same size: a few soft patches of colour remain. */
	blur(bytes: Uint8Array, output: OutputFormat, requester: Requester): Promise<Picture>;
	/** Edits by a prompt, deterministically: see docs/images.md, Local editing. The edits decide the size. */
	localEdit(edit: LocalEdit, requester: Requester): Promise<Picture>;
	/**
	 * Enlarges by Lanczos resampling, which invents no detail. `factor` is 1 to 4 and is reduced so that the result has at most
	 * `MAX_UPSCALED_PIXELS`; a larger size is refused. No side becomes shorter.
	 */
	upscale(bytes: Uint8Array, to: Enlargement, output: OutputFormat, requester: Requester): Promise<Picture>;
	/** Stops the processes and any download, for good. */
	stop(): Promise<void>;
}
