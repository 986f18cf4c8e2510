import type { ModelEntry } from "../config/index.ts";
import { type PicoPrice, picoPerUnit } from "../ledger/nano.ts";
import type { TextModelData } from "./data-schema.ts";
import { type PricePair, pricePair } from "./media-model.ts";
import type { TextCapabilities, TextPrices } from "./types.ts";

/** Prices of text models are per this many tokens. */
const PRICE_UNIT_TOKENS = 1_000_000;

const UNKNOWN_CAPABILITIES: TextCapabilities = {
	optimizedForCode: false,
	quantization: "not-available",
	supportsAudioInput: null,
	supportsFunctionCalling: null,
	supportsLogProbs: null,
	supportsMultipleImages: null,
	supportsReasoning: null,
	supportsReasoningEffort: null,
	supportsResponseSchema: null,
	supportsTeeAttestation: false,
	supportsE2EE: false,
	supportsVision: null,
	supportsVideoInput: null,
	supportsWebSearch: true,
	supportsXSearch: false,
};

/** The features that the configuration provides for a text model, independent of its entry. */
export interface ServedFeatures {
	/** A search provider is configured. */
	readonly webSearch: boolean;
	/** All upstreams of the model search X themselves. */
	readonly xSearch: boolean;
	/** All upstreams of the model prove their hardware and software; all of them accept sealed conversations. */
	readonly attestation: boolean;
	readonly sealed: boolean;
}

/**
 * Returns the capabilities by precedence: configuration, data file, upstreams' lists, unknown (docs/models.md). Features that
 * are not served are off.
 */
export function textCapabilities(
	entry: ModelEntry | undefined,
	data: TextModelData | undefined,
	served: ServedFeatures,
	listed: Partial<TextCapabilities> = {},
): TextCapabilities {
	const merged = { ...UNKNOWN_CAPABILITIES, ...listed, ...data?.capabilities, ...entry?.capabilities };
	return {
		...merged,
		// A model without vision cannot read several images.
		...(merged.supportsVision === false && { supportsMultipleImages: false }),
		supportsWebSearch: merged.supportsWebSearch && served.webSearch,
		supportsXSearch: merged.supportsXSearch && served.xSearch,
		// Sealing needs an attested key.
		supportsTeeAttestation: (merged.supportsTeeAttestation || merged.supportsE2EE) && served.attestation,
		supportsE2EE: merged.supportsE2EE && served.sealed,
	};
}

/**
 * Returns the prices in pico-USD per token: the entry's, its cost times the multiplier, or the data file's. A model without any
 * is free.
 */
export function textPrices(entry: ModelEntry | undefined, data: TextModelData | undefined, multiplier: number): TextPrices {
	const { cost } = entry ?? {};
	const costPrice =
		cost?.input === undefined || cost.output === undefined
			? undefined
			: { input: cost.input * multiplier, output: cost.output * multiplier };
	const price: NonNullable<ModelEntry["price"]> = entry?.price ?? costPrice ?? data?.price ?? { input: 0, output: 0 };
	const perToken = (usd: number): PicoPrice => picoPerUnit(usd, PRICE_UNIT_TOKENS);
	const cachePrices = ({ cacheInput, cacheWrite }: { cacheInput?: number; cacheWrite?: number }) => ({
		...(cacheInput !== undefined && { cacheInput: perToken(cacheInput) }),
		...(cacheWrite !== undefined && { cacheWrite: perToken(cacheWrite) }),
	});
	const { extended } = price;
	return {
		input: perToken(price.input),
		output: perToken(price.output),
		...cachePrices(price),
		...(extended && {
			extended: {
				thresholdTokens: extended.contextTokenThreshold,
				input: perToken(extended.input),
				output: perToken(extended.output),
				...cachePrices(extended),
			},
		}),
	};
}

/** The input of the type-dependent part of a text model's `model_spec`. */
export interface TextSpecInput {
	readonly contextTokens: number | null;
	readonly maxCompletionTokens: number | null;
	readonly capabilities: TextCapabilities;
	readonly prices: TextPrices;
	readonly temperature: number;
	readonly topP: number;
}

/** Returns the members of `model_spec` of a text model (docs/models.md). */
export function textSpec(input: TextSpecInput): Record<string, unknown> {
	return {
		...(input.contextTokens !== null && { availableContextTokens: input.contextTokens }),
		...(input.maxCompletionTokens !== null && { maxCompletionTokens: input.maxCompletionTokens }),
		capabilities: shownCapabilities(input.capabilities),
		constraints: { temperature: { default: input.temperature }, top_p: { default: input.topP } },
		pricing: shownPrices(input.prices),
	};
}

/** Shows an unknown capability as true if most chat servers have it, and as false for audio and video. */
function shownCapabilities(capabilities: TextCapabilities): Record<string, unknown> {
	const { reasoningEffortOptions, defaultReasoningEffort, maxImages, maxVideos } = capabilities;
	const severalImages = capabilities.supportsMultipleImages ?? true;
	const effort = capabilities.supportsReasoningEffort ?? true;
	const video = capabilities.supportsVideoInput ?? false;
	return {
		optimizedForCode: capabilities.optimizedForCode,
		quantization: capabilities.quantization,
		supportsAudioInput: capabilities.supportsAudioInput ?? false,
		supportsFunctionCalling: capabilities.supportsFunctionCalling ?? true,
		supportsLogProbs: capabilities.supportsLogProbs ?? true,
		supportsMultipleImages: severalImages,
		...(severalImages && maxImages !== undefined && { maxImages }),
		supportsReasoning: capabilities.supportsReasoning ?? true,
		supportsReasoningEffort: effort,
		...(effort && reasoningEffortOptions && { reasoningEffortOptions }),
		...(effort && defaultReasoningEffort && { defaultReasoningEffort }),
		supportsResponseSchema: capabilities.supportsResponseSchema ?? true,
		supportsTeeAttestation: capabilities.supportsTeeAttestation,
		supportsE2EE: capabilities.supportsE2EE,
		supportsVision: capabilities.supportsVision ?? true,
		supportsVideoInput: video,
		...(video && maxVideos !== undefined && { maxVideos }),
		supportsWebSearch: capabilities.supportsWebSearch,
		supportsXSearch: capabilities.supportsXSearch,
	};
}

/** Shows the integers that are charged, so that list and bill agree. */
function shownPrices(prices: TextPrices): Record<string, unknown> {
	const { input, output, cacheInput, cacheWrite, extended } = prices;
	return {
		input: perMillion(input),
		...(cacheInput !== undefined && { cache_input: perMillion(cacheInput) }),
		...(cacheWrite !== undefined && { cache_write: perMillion(cacheWrite) }),
		output: perMillion(output),
		...(extended && {
			extended: {
				context_token_threshold: extended.thresholdTokens,
				input: perMillion(extended.input),
				...(extended.cacheInput !== undefined && { cache_input: perMillion(extended.cacheInput) }),
				...(extended.cacheWrite !== undefined && { cache_write: perMillion(extended.cacheWrite) }),
				output: perMillion(extended.output),
			},
		}),
	};
}

/** pico-USD per token is micro-USD per million tokens. */
function perMillion(price: PicoPrice): PricePair {
	return pricePair(price / 1_000_000);
}
