/** What is done with pictures on this machine: what routes hand in and get. */

import { ApiError, type Issue } from "../../errors/index.ts";
import type { Requester } from "../../fairness/index.ts";

/** 25 MiB: a picture of so many bytes or more is refused with 413. */
export const MAX_IMAGE_BYTES = 26_214_400;
/** 256 x 256: a picture with fewer pixels is refused. */
export const MIN_IMAGE_PIXELS = 65_536;
/** 7680 x 4320: a picture with more pixels is refused, from its header, before anything is decoded. */
export const MAX_IMAGE_PIXELS = 33_177_600;
/** 4096 x 4096: what upscaling may give. */
export const MAX_UPSCALED_PIXELS = 16_777_216;
/** The base picture and its layers or masks. */
export const MAX_EDIT_IMAGES = 3;

const IMAGE_FORMATS = ["png", "jpeg", "webp"] as const;
/** What is written. `jpg` is the routes' to translate. */
export type ImageFormat = (typeof IMAGE_FORMATS)[number];

export const IMAGE_MEDIA_TYPES: Readonly<Record<ImageFormat, `image/${ImageFormat}`>> = {
	png: "image/png",
	jpeg: "image/jpeg",
	webp: "image/webp",
};

/** A picture that this engine wrote: upright, sRGB, 8 bits a channel, one frame, without metadata. */
export interface Picture {
	readonly bytes: Uint8Array;
	readonly mediaType: `image/${ImageFormat}`;
	readonly width: number;
	readonly height: number;
	readonly hasAlpha: boolean;
}

export interface OutputFormat {
	readonly format: ImageFormat;
	/** 1 to 100, of jpeg and webp. Default 92. */
	readonly quality?: number;
}

export interface FinishOptions extends OutputFormat {
	/** In pixels; absent: the size that it has. */
	readonly size?: { readonly width: number; readonly height: number };
	/**
	 * How it is brought to `size`. `cover` (default): filled, what stands over is cut off evenly on both sides. `contain`:
	 * whole, with transparent borders, white ones in jpeg. `fill`: stretched. `inside`: whole, without borders, so one side
	 * may be shorter.
	 */
	readonly fit?: "cover" | "contain" | "fill" | "inside";
	/** False: a picture that is smaller than `size` is cut to the ratio only. Default true. */
	readonly enlarge?: boolean;
}

export interface LocalEdit {
	/** What is to be done, in the words of docs/images.md, Local editing. */
	readonly prompt: string;
	/** 1 to `MAX_EDIT_IMAGES`, as callers sent them: the base first, then layers or masks, as the prompt uses them. */
	readonly images: readonly Uint8Array[];
	readonly output: OutputFormat;
}

export type Enlargement = { readonly factor: number } | { readonly width: number; readonly height: number };

export type ScorerState =
	| { readonly state: "ready"; readonly text: string }
	/** The text says why and how far it is; it may go to a caller. */
	| { readonly state: "offline"; readonly text: string };

/** Why a picture, or what is to be done with it, is refused. */
export type ImageFaultKind =
	/** No picture, or of a type that is not read (SVG, PDF, HEIC where it cannot be). */
	| "unsupported"
	/** Cut off or damaged. */
	| "corrupt"
	/** Fewer than `MIN_IMAGE_PIXELS`. */
	| "too-small"
	/** More than `MAX_IMAGE_PIXELS`, in or out. */
	| "too-many-pixels"
	/** More than `MAX_IMAGE_BYTES`. */
	| "too-many-bytes"
	/** Took longer, or more memory, than one may. */
	| "too-costly"
	/** A prompt that local editing does not read: `message` names the words and tells what it can do. */
	| "not-understood"
	/** A prompt that is read, but does not fit these pictures: a crop outside, a layer that was not sent. */
	| "not-possible";

/** A fault of what the caller sent, not of this server. The text may go to a caller. */
export class ImageFault extends Error {
	override readonly name = "ImageFault";
	readonly kind: ImageFaultKind;
	/** Of local editing: which of the pictures is at fault, from 0. */
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
 * The answer to a caller whose picture or prompt is at fault (docs/images.md, Refusals).
 * @param param the field that held the picture, `image` or `images`; of a prompt's fault it is `prompt`
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
 * Pictures in child processes. Every method that takes bytes takes them as a caller sent them, tells their type by their
 * content, and throws:
 * - ImageFault: the picture or the prompt is at fault
 * - ApiError MODEL_OVERLOADED (429, with Retry-After): too many pictures wait; SERVICE_UNAVAILABLE: the process does not start
 * - the reason of the requester's signal, where the caller left; its work is ended
 *
 * The bytes that are handed in are not changed and are let go of when the promise settles.
 */
export interface ImageEngine {
	/**
	 * A picture as everything behind this can take it: upright, sRGB, 8 bits, its first frame, without metadata. PNG where
	 * it has transparency or came without loss, else JPEG. Pixels and bytes are within the limits above.
	 * @param limits default `MIN_IMAGE_PIXELS`; 0 for what an upstream answered
	 */
	normalise(bytes: Uint8Array, requester: Requester, limits?: { readonly minPixels?: number }): Promise<Picture>;
	/** A picture in the size and format that the caller asked for. Transparency becomes white in jpeg. No minimum of pixels. */
	finish(bytes: Uint8Array, options: FinishOptions, requester: Requester): Promise<Picture>;
	/**
	 * How likely a picture is adult content, 0 to 1: of the whole, or of the tile that scores highest where it is large.
	 * @throws ApiError MODEL_OFFLINE where the weights are not there (yet), with the progress in its text
	 */
	score(bytes: Uint8Array, requester: Requester): Promise<number>;
	/** Whether `score` would answer now, and else why not. */
	scorerState(): Promise<ScorerState>;
	/** Begins the download of the scorer's weights where it is needed, without waiting for it. */
	prefetch(): void;
	/** The same size, beyond recognition: what is left is a few soft patches of colour. */
	blur(bytes: Uint8Array, output: OutputFormat, requester: Requester): Promise<Picture>;
	/** Deterministic edits by prompt: see docs/images.md, Local editing. Its size is what the edits give. */
	localEdit(edit: LocalEdit, requester: Requester): Promise<Picture>;
	/**
	 * Enlarged by Lanczos resampling, which invents no detail. `factor` is 1 to 4 and is reduced so that the result has at
	 * most `MAX_UPSCALED_PIXELS`; a size of more is refused. No side becomes shorter.
	 */
	upscale(bytes: Uint8Array, to: Enlargement, output: OutputFormat, requester: Requester): Promise<Picture>;
	/** Ends the processes and any download, for good. */
	stop(): Promise<void>;
}
