/** What tests of the image routes share: a gateway with the real engine and two scripted servers, and pictures to send. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import sharp from "sharp";
import type { EmbeddedImagesOptions } from "../../src/engines/images/index.ts";
import { ScoredEngine } from "./image-engine.ts";
import { plainPicture } from "./plain-picture.ts";
import { type GatewayOptions, type RunningGateway, startGateway, upstreamEntry } from "./running-gateway.ts";
import { type ScriptedImageUpstream, startScriptedImageUpstream } from "./scripted-image-upstream.ts";

export { PAINTED, plainPicture } from "./plain-picture.ts";

export interface ImageGateway {
	readonly gate: RunningGateway;
	readonly upstream: ScriptedImageUpstream;
	readonly engine: ScoredEngine;
	/** JSON to a route, with the admin key. */
	post(path: string, body: object, headers?: Record<string, string>): Promise<Response>;
	/** A form to a route. */
	form(path: string, fields: readonly (readonly [name: string, value: string | Uint8Array])[]): Promise<Response>;
	/** Price in USD of the last post. */
	lastPrice(): Promise<number>;
	reset(): void;
	stop(): Promise<void>;
}

const target = (more: object = {}) => ({ upstream: "painter", weight: 1, order: 0, ...more });

/** Models that the scripted server serves, as callers of the tests name them. */
const ENTRIES = {
	"firered-image-edit": { upstreams: [target({ model: "firered" })] },
	"gpt-image-2-edit": { upstreams: [target()] },
	"gpt-image-1-5-edit": { upstreams: [target({ sizes: ["1024x1024", "1536x1024", "1024x1536"] })] },
	"nano-banana-pro-edit": { upstreams: [target()] },
	"wan-2-7-pro-edit": { upstreams: [target()] },
	"qwen-image-3-edit": { upstreams: [target()] },
	"z-image-turbo": { upstreams: [target({ model: "z-turbo" })] },
	"gpt-image-2": { upstreams: [target()] },
	"bria-bg-remover": { upstreams: [target()] },
	"own-edit": { type: "inpaint", image: { usd: 0.5, aspectRatios: ["auto"] }, upstreams: [target()] },
};

/** `more`: further upstreams. */
export async function startImageGateway(
	options: GatewayOptions & { readonly more?: object } = {},
	engineOptions: Partial<EmbeddedImagesOptions> = {},
): Promise<ImageGateway> {
	const upstream = startScriptedImageUpstream((size) => plainPicture(size));
	const engine = new ScoredEngine(engineOptions);
	const { models, ...config } = (options.config ?? {}) as { models?: { entries?: object } };
	const gate = await startGateway({
		creditUsd: "100",
		...options,
		images: engine,
		config: {
			limits: { failedRequests: 0, imageRequestsPerMinute: 1_000 },
			upstreams: {
				...options.more,
				painter: upstreamEntry(upstream.url, { key: "up-secret-key", health: { failures: 1_000, probeEveryMs: 60_000 } }),
			},
			models: { ...models, entries: { ...ENTRIES, ...models?.entries } },
			...config,
		},
	});
	const headers = { authorization: `Bearer ${gate.key}` };
	return {
		gate,
		upstream,
		engine,
		post: (path, body, more) => gate.call("POST", path, body, more),
		form(path, fields) {
			const body = new FormData();
			for (const [name, value] of fields)
				body.append(name, typeof value === "string" ? value : new File([value as Uint8Array<ArrayBuffer>], "picture"));
			return fetch(`${gate.url}/api/v1${path}`, { method: "POST", headers, body });
		},
		lastPrice: async () => ((await gate.posts()).at(-1)?.price ?? -1) / 1e9,
		reset() {
			upstream.reset();
			engine.reset();
		},
		async stop() {
			await gate.stop();
			await Promise.all([engine.stop(), upstream.stop()]);
		},
	};
}

export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

export const sampleImage = (name: string): Uint8Array => readFileSync(join(import.meta.dir, "../samples/images", name));

export interface Decoded {
	readonly format: string;
	readonly width: number;
	readonly height: number;
	readonly hasAlpha: boolean;
	/** Red, green, blue, alpha of the pixel in the middle. */
	readonly middle: readonly number[];
}

/** What an answer's picture is, by decoding it. */
export async function decoded(response: Response | Uint8Array): Promise<Decoded> {
	const bytes = response instanceof Response ? await response.bytes() : response;
	const { format = "", width = 0, height = 0, hasAlpha = false } = await sharp(bytes).metadata();
	const { data } = await sharp(bytes)
		.extract({ left: Math.floor(width / 2), top: Math.floor(height / 2), width: 1, height: 1 })
		.toColourspace("srgb")
		.ensureAlpha()
		.raw()
		.toBuffer({ resolveWithObject: true });
	return { format, width, height, hasAlpha, middle: [...data] };
}
