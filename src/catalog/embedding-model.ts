/** The properties of embedding models: the catalog's data, overridden by the operator's settings. */
import type { ModelEntry } from "../config/index.ts";
import { picoPerUnit } from "../ledger/nano.ts";
import type { MediaModelData } from "./data-schema.ts";
import { pricePair } from "./media-model.ts";
import type { EmbeddingProperties } from "./types.ts";

/** Prices are per this many tokens. */
const PRICE_UNIT_TOKENS = 1_000_000;

export function embeddingProperties(entry: ModelEntry | undefined, data: MediaModelData | undefined): EmbeddingProperties {
	const modelData = data?.type === "embedding" ? data : undefined;
	const own = entry?.embedding;
	return {
		dimensions: own?.dimensions ?? modelData?.dimensions ?? null,
		maxInputTokens: own?.maxInputTokens ?? modelData?.maxInputTokens ?? null,
		customDimensions: own?.customDimensions ?? modelData?.customDimensions ?? false,
		tokenPrice: picoPerUnit(own?.perMillionTokens ?? modelData?.price.input ?? 0, PRICE_UNIT_TOKENS),
	};
}

/** Returns the members of `model_spec` that the operator may have set or changed. */
export function ownEmbeddingSpec(properties: EmbeddingProperties): Record<string, unknown> {
	// pico-USD per token is micro-USD per million.
	const price = pricePair(properties.tokenPrice / 1_000_000);
	return {
		...(properties.dimensions !== null && { embeddingDimensions: properties.dimensions }),
		...(properties.maxInputTokens !== null && { maxInputTokens: properties.maxInputTokens }),
		...(properties.customDimensions && { supportsCustomDimensions: true }),
		pricing: { input: price, output: price },
	};
}
