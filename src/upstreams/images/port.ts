import type { ImageQuality, ModelTarget } from "../../catalog/types.ts";
import type { Fetch } from "../fetch.ts";
import type { Endpoint, UpstreamNode } from "../node.ts";
import type { PublicFetch } from "../public-fetch/port.ts";

/** A picture on its way to an upstream: upright, sRGB, 8 bits, no metadata. */
export interface InputPicture {
	readonly bytes: Uint8Array;
	readonly mediaType: "image/png" | "image/jpeg" | "image/webp";
	/** `mask`: where it is transparent, the first picture is to be changed. */
	readonly role: "picture" | "mask";
	/** Of a mask: PNG of the first picture's size in which what is to be changed has this colour, and all else the other. */
	inTwoColours?(changed: "white" | "black"): Promise<Uint8Array>;
}

/** Four pictures of 4K as PNG in base64. */
export const MAX_ANSWER_BYTES = 160 * 1024 * 1024;
export const MAX_PICTURE_BYTES = 64 * 1024 * 1024;

/** What is wanted of a model of pictures, whoever serves it. */
export interface ImageForward {
	readonly requestId: string;
	/** Whose share of an upstream's places it counts in. */
	readonly tenant: string;
	readonly targets: readonly ModelTarget[];
	/** `generate` has no pictures; the others have the base first, then layers and masks in the caller's order. */
	readonly kind: "edit" | "generate" | "upscale" | "background-remove";
	readonly prompt: string;
	readonly pictures: readonly InputPicture[];
	/** Of the result: what the caller gets is brought to it here, whatever the upstream makes. null: as the upstream likes. */
	readonly size: { readonly width: number; readonly height: number } | null;
	/** The ratio by its name, like `16:9`; null where sizes are in pixels. For protocols that have no sizes. */
	readonly aspectRatio: string | null;
	/** `1K`, `2K`, `4K`. */
	readonly resolution: string;
	/** null where the model has none. */
	readonly quality: ImageQuality | null;
	/** How many pictures, 1 to 4. */
	readonly count: number;
	readonly negativePrompt?: string | undefined;
	readonly seed?: number | undefined;
	readonly steps?: number | undefined;
	readonly guidance?: number | undefined;
	/** Of an enlargement: how many times the sides, before the largest size makes it less. */
	readonly factor?: number | undefined;
	/** Aborts when the caller leaves. */
	readonly signal: AbortSignal;
	/** Called before each try's bytes go out: from here on leaving is billed. */
	onSent(upstream: string): void;
}

export interface ImageAnswer {
	readonly upstream: string;
	/** Tries before the one that answered. */
	readonly retries: number;
	/** As the upstream made them, `count` of them: PNG, JPEG, WebP, GIF or AVIF by their first bytes. */
	readonly pictures: readonly Uint8Array[];
}

export interface ImageUpstreams {
	/** Rejects with an ApiError, after all tries, or the signal's reason. */
	make(call: ImageForward): Promise<ImageAnswer>;
}

/** One try at one upstream. */
export interface ImageAttempt {
	readonly target: ModelTarget;
	/** The upstream's own name for the model. */
	readonly model: string;
	readonly endpoint: Endpoint;
	readonly node: UpstreamNode;
	readonly fetch: Fetch;
	/** Reads what an answer names at another server; without it nothing is read there. */
	readonly fetchPublic?: PublicFetch | undefined;
	/** Ends when the caller leaves or the time is up: everything that is asked has to end with it. */
	readonly signal: AbortSignal;
}

/**
 * A way of speaking to upstreams: from what is wanted to at least one picture. Asks as often as its protocol needs.
 * Throws an UpstreamFailure (`broken`, `offline`, ... of failures.ts), an ApiError that is the caller's answer, or what the
 * connection throws; the pool does the rest: health, the next upstream, the error that the caller gets.
 */
export type ImageProtocol = (call: ImageForward, attempt: ImageAttempt) => Promise<readonly Uint8Array[]>;
