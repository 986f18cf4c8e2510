import type { ImageQuality, ModelTarget } from "../../catalog/types.ts";
import type { Fetch } from "../fetch.ts";
import type { PublicFetch } from "../public-fetch/port.ts";
import type { Endpoint, UpstreamServer } from "../upstream-server.ts";

/** A picture for an upstream: upright, sRGB, 8 bits, without metadata. */
export interface InputPicture {
	readonly bytes: Uint8Array;
	readonly mediaType: "image/png" | "image/jpeg" | "image/webp";
	/** `mask`: the first picture is changed where the mask is transparent. */
	readonly role: "picture" | "mask";
	/**
	 * Of a mask: returns a PNG in the first picture's size. The area to change has this colour, and the rest the other
	 * one.
	 */
	inTwoColours?(changed: "white" | "black"): Promise<Uint8Array>;
}

/** Four pictures of 4K as PNG in base64. */
export const MAX_ANSWER_BYTES = 160 * 1024 * 1024;
export const MAX_PICTURE_BYTES = 64 * 1024 * 1024;

/** A request to a model of pictures, for any upstream. */
export interface ImageForward {
	readonly requestId: string;
	/** The tenant in whose share of an upstream's places the call counts. */
	readonly tenant: string;
	readonly targets: readonly ModelTarget[];
	/**
	 * `generate` has no pictures. The others have the base picture first, then layers and masks in the caller's order.
	 */
	readonly kind: "edit" | "generate" | "upscale" | "background-remove";
	readonly prompt: string;
	readonly pictures: readonly InputPicture[];
	/** The size of the result, to which it is scaled here, whatever the upstream makes. null: any size. */
	readonly size: { readonly width: number; readonly height: number } | null;
	/** The aspect ratio, such as `16:9`, for protocols without sizes; null if sizes are in pixels. */
	readonly aspectRatio: string | null;
	/** One of `1K`, `2K`, `4K`. */
	readonly resolution: string;
	/** null if the model has none. */
	readonly quality: ImageQuality | null;
	/** Number of pictures, 1 to 4. */
	readonly count: number;
	readonly negativePrompt?: string | undefined;
	readonly seed?: number | undefined;
	readonly steps?: number | undefined;
	readonly guidance?: number | undefined;
	/** Of an upscale: the factor for the sides, before the maximum size limits it. */
	readonly factor?: number | undefined;
	/** Aborts when the caller leaves. */
	readonly signal: AbortSignal;
	/** Called before each attempt's bytes go out. From then on a caller that leaves is charged. */
	onSent(upstream: string): void;
}

export interface ImageAnswer {
	readonly upstream: string;
	/** Number of attempts before the one that answered. */
	readonly retries: number;
	/** `count` pictures as the upstream made them: PNG, JPEG, WebP, GIF or AVIF by their first bytes. */
	readonly pictures: readonly Uint8Array[];
}

export interface ImageUpstreams {
	/** Rejects with an ApiError after all attempts, or with the signal's reason. */
	make(call: ImageForward): Promise<ImageAnswer>;
}

/** One attempt at one upstream. */
export interface ImageAttempt {
	readonly target: ModelTarget;
	/** The upstream's own name for the model. */
	readonly model: string;
	readonly endpoint: Endpoint;
	readonly server: UpstreamServer;
	readonly fetch: Fetch;
	/** Reads pictures that an answer names at another server. Without it such pictures are faults. */
	readonly fetchPublic?: PublicFetch | undefined;
	/** Aborts when the caller leaves or the time is up. Every request of the attempt must use it. */
	readonly signal: AbortSignal;
}

/**
 * A protocol of upstreams. It returns at least one picture and sends as many requests as it needs. It throws an
 * UpstreamFailure, an ApiError for the caller, or an error of a connection. The pool handles health, the next upstream
 * and the caller's error.
 */
export type ImageProtocol = (call: ImageForward, attempt: ImageAttempt) => Promise<readonly Uint8Array[]>;
