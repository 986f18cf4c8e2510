import type { Requester } from "../../fairness/index.ts";

/** The built-in embedding model as the rest sees it. */
export interface Embedded {
	/** One for each text, in their order: `EMBEDDED_DIMENSIONS` numbers of length 1. */
	readonly vectors: readonly Float32Array[];
	/** Of all texts together, as the model read them. */
	readonly tokens: number;
}

export interface EmbeddingEngine {
	/**
	 * @throws ApiError TOO_MANY_TOKENS, naming the text; MODEL_OFFLINE while the weights are not there; RATE_LIMIT_EXCEEDED
	 * where too many wait; INFERENCE_FAILED where the process fails; what the requester's signal aborts with
	 */
	embed(texts: readonly string[], requester: Requester): Promise<Embedded>;
	/** Begins the download of the weights where they are not here, without waiting for it. */
	prefetch(): void;
}
