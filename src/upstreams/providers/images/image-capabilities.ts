/**
 * The request fields of pictures that each provider's package accepts, and how many pictures it accepts: data, no
 * logic. A field that is neither listed here nor a common call option of the packages is not sent.
 * Sources: the option schemas of the packages; Google's page "Image generation" (Gemini API); xAI's "Image
 * generations"; fal's model pages; Black Forest Labs' API reference; Replicate's HTTP API; Luma's "Image generation";
 * Fireworks', Together AI's and DeepInfra's image references; OpenAI's images reference; Amazon's "Nova Canvas request
 * and response structure".
 */
import type { SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { ProviderName } from "../../../config/providers.ts";
import type { ImageForward } from "../../images/port.ts";

export type ImageOptions = SharedV4ProviderOptions[string];

export interface ProviderImageCapabilities {
	/** The namespace of its package's options. */
	readonly namespace: string;
	/** Maximum number of input pictures, by the provider's own name for the model. No request has more than three. */
	readonly pictures: (model: string) => number;
	/** How a mask marks the area to change: by transparency, by a colour, or null if masks are not supported. */
	readonly mask: (model: string) => "transparent" | "white" | "black" | null;
	readonly dimensions: { readonly size?: true; readonly ratio?: true };
	/** Number of pictures that one call can make. */
	readonly perCall: number;
	/** The form in which its package accepts pictures without processing them byte by byte. */
	readonly encoding: "base64" | "bytes";
	/** True if models that upscale or remove a background accept no prompt. */
	readonly fixedTasksWithoutPrompt?: true;
	/** Matches the models that its package accepts. */
	readonly models?: RegExp;
	readonly options?: (call: ImageForward, model: string) => ImageOptions;
}

const none = () => null;
const three = () => 3;
/** Disables the polling limits of packages, since our time limit is exact. */
const NO_LIMIT = 1_000_000_000;

/** Gemini edits through its language model. From its third generation on, a size of a picture is a name. */
const GEMINI = {
	pictures: three,
	mask: none,
	dimensions: { ratio: true },
	perCall: 1,
	encoding: "base64",
	models: /^gemini-/,
	options: ({ resolution }, model) => (/^gemini-2/.test(model) ? {} : { imageConfig: { imageSize: resolution } }),
} as const satisfies Partial<ProviderImageCapabilities>;

const OPENAI = {
	namespace: "openai",
	pictures: three,
	mask: () => "transparent",
	dimensions: { size: true },
	perCall: 1,
	encoding: "bytes",
	options: ({ quality, kind }) => ({
		...(quality === null ? {} : { quality }),
		...(kind === "background-remove" ? { background: "transparent", outputFormat: "png" } : {}),
	}),
} as const satisfies ProviderImageCapabilities;

/** Returns the fields of diffusion models, under names that several providers share. */
function diffusion({ negativePrompt, steps, guidance }: ImageForward): ImageOptions {
	return {
		...(negativePrompt === undefined ? {} : { negative_prompt: negativePrompt }),
		...(steps === undefined ? {} : { num_inference_steps: steps }),
		...(guidance === undefined ? {} : { guidance_scale: guidance }),
	};
}

/** Matches fal's models for several pictures. They take pictures as a list, even a single one. */
const FAL_LIST = /\/multi$|-plus(?:$|\/)|(?:flux-2|nano-banana|seedream|gpt-image)[^/]*(?:\/.*)?\/edit/;

export const IMAGE_CAPABILITIES: Readonly<Partial<Record<ProviderName, ProviderImageCapabilities>>> = {
	azure: OPENAI,
	bedrock: {
		namespace: "amazonBedrock",
		pictures: () => 1,
		mask: () => "black",
		dimensions: { size: true },
		perCall: 4,
		encoding: "base64",
		fixedTasksWithoutPrompt: true,
		options: ({ kind, quality, negativePrompt, guidance }) => ({
			...(kind === "background-remove" ? { taskType: "BACKGROUND_REMOVAL" } : {}),
			...(quality === null ? {} : { quality: quality === "high" ? "premium" : "standard" }),
			...(negativePrompt === undefined ? {} : { negativeText: negativePrompt }),
			...(guidance === undefined ? {} : { cfgScale: guidance }),
		}),
	},
	"black-forest-labs": {
		namespace: "blackForestLabs",
		pictures: (model) => (/kontext|flux-2/.test(model) ? 3 : 1),
		mask: (model) => (/fill/.test(model) ? "white" : null),
		dimensions: { size: true, ratio: true },
		perCall: 1,
		encoding: "base64",
		options: ({ steps, guidance }) => ({
			outputFormat: "png",
			pollTimeoutMillis: NO_LIMIT,
			...(steps === undefined ? {} : { steps }),
			...(guidance === undefined ? {} : { guidance }),
		}),
	},
	deepinfra: {
		namespace: "deepinfra",
		pictures: three,
		mask: () => "transparent",
		dimensions: { size: true },
		perCall: 1,
		encoding: "bytes",
		options: (call) => (call.kind === "generate" ? diffusion(call) : {}),
	},
	fal: {
		namespace: "fal",
		pictures: (model) => (FAL_LIST.test(model) ? 3 : 1),
		mask: () => "white",
		dimensions: { size: true },
		perCall: 1,
		encoding: "base64",
		fixedTasksWithoutPrompt: true,
		options: (call, model) => ({
			...diffusion(call),
			...(FAL_LIST.test(model) ? { useMultipleImages: true } : {}),
			...(call.quality === null ? {} : { quality: call.quality }),
			...(call.factor === undefined ? {} : { upscale_factor: call.factor }),
			...(call.kind === "edit" || call.kind === "generate" ? { outputFormat: "png" } : {}),
		}),
	},
	fireworks: {
		namespace: "fireworks",
		pictures: (model) => (/kontext/.test(model) ? 1 : 0),
		mask: none,
		dimensions: { size: true, ratio: true },
		perCall: 1,
		encoding: "base64",
		options: diffusion,
	},
	google: { namespace: "google", ...GEMINI },
	"google-vertex": { namespace: "googleVertex", ...GEMINI },
	/** It reads only pictures at public addresses, and ours have none. */
	luma: {
		namespace: "luma",
		pictures: () => 0,
		mask: none,
		dimensions: { ratio: true },
		perCall: 1,
		encoding: "base64",
		options: () => ({ maxPollAttempts: NO_LIMIT }),
	},
	openai: OPENAI,
	replicate: {
		namespace: "replicate",
		pictures: (model) => (/flux-2-/.test(model) ? 3 : 1),
		mask: (model) => (/flux-2-/.test(model) ? null : "white"),
		dimensions: { ratio: true },
		perCall: 1,
		encoding: "base64",
		fixedTasksWithoutPrompt: true,
		options: (call) => ({
			...diffusion(call),
			maxPollAttempts: NO_LIMIT,
			...(call.factor === undefined ? {} : { scale: call.factor }),
			...(call.kind === "edit" || call.kind === "generate" ? { output_format: "png" } : {}),
		}),
	},
	togetherai: {
		namespace: "togetherai",
		pictures: () => 1,
		mask: none,
		dimensions: { size: true },
		perCall: 4,
		encoding: "base64",
		options: ({ negativePrompt, steps, guidance }) => ({
			...(negativePrompt === undefined ? {} : { negative_prompt: negativePrompt }),
			...(steps === undefined ? {} : { steps }),
			...(guidance === undefined ? {} : { guidance }),
		}),
	},
	xai: {
		namespace: "xai",
		pictures: three,
		mask: none,
		dimensions: { ratio: true },
		perCall: 4,
		encoding: "base64",
		options: ({ resolution, quality }) => ({
			resolution: resolution === "1K" ? "1k" : "2k",
			...(quality === null ? {} : { quality }),
		}),
	},
};
