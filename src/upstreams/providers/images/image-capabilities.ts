/**
 * What each provider's package is told of a picture that is wanted, and how many pictures it takes: data, no logic.
 * What is not named here is no field of the packages' common call options, and goes nowhere.
 *
 * Sources: the option schemas of the packages; Google's page "Image generation" (Gemini API); xAI's "Image generations"; fal's
 * model pages; Black Forest Labs' API reference; Replicate's HTTP API; Luma's "Image generation"; Fireworks', Together AI's and
 * DeepInfra's image references; OpenAI's images reference; Amazon's "Nova Canvas request and response structure".
 */
import type { SharedV4ProviderOptions } from "@ai-sdk/provider";
import type { ProviderName } from "../../../config/providers.ts";
import type { ImageForward } from "../../images/port.ts";

export type ImageOptions = SharedV4ProviderOptions[string];

export interface ProviderImageCapabilities {
	/** The name under which its package takes options. */
	readonly namespace: string;
	/** Input pictures at most, by the provider's own name of the model. Three are the most that a request has. */
	readonly pictures: (model: string) => number;
	/** How it is told what is to change: by transparency, by a colour, or not at all. */
	readonly mask: (model: string) => "transparent" | "white" | "black" | null;
	readonly dimensions: { readonly size?: true; readonly ratio?: true };
	/** Pictures that it makes at once. */
	readonly perCall: number;
	/** How its package takes pictures without working on them byte by byte. */
	readonly encoding: "base64" | "bytes";
	/** True where models that enlarge or cut out take no prompt. */
	readonly fixedTasksWithoutPrompt?: true;
	/** Names of models that its package takes. */
	readonly models?: RegExp;
	readonly options?: (call: ImageForward, model: string) => ImageOptions;
}

const none = () => null;
const three = () => 3;
/** Packages that ask again and again have limits of their own: ours is exact. */
const NO_LIMIT = 1_000_000_000;

/** Gemini edits through its language model. The size of its pictures is told by a name from its third generation on. */
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

/** Fields of diffusion models under the names that several providers share. */
function diffusion({ negativePrompt, steps, guidance }: ImageForward): ImageOptions {
	return {
		...(negativePrompt === undefined ? {} : { negative_prompt: negativePrompt }),
		...(steps === undefined ? {} : { num_inference_steps: steps }),
		...(guidance === undefined ? {} : { guidance_scale: guidance }),
	};
}

/** fal's models for several pictures take them as a list, also where there is one. */
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
	/** It reads pictures at public addresses only, which ours have not. */
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
