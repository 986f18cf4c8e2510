import type { Requester } from "../../fairness/index.ts";

/** The interface of the built-in embedding model. */
export interface Embedded {
	/** One for each text, in their order: `EMBEDDED_DIMENSIONS` numbers of length 1. */
	readonly vectors: readonly Float32Array[];
	/** The number of tokens in all texts, as the model counts them. */
	readonly tokens: number;
}

export interface EmbeddingEngine {
	/**
	 * Embeds texts.
	 * @throws {ApiError} TOO_MANY_TOKENS, naming the text; MODEL_OFFLINE while the weights are missing; RATE_LIMIT_EXCEEDED if
	 * too many wait; INFERENCE_FAILED if the process fails; the reason of the requester's signal
	 */
	embed(texts: readonly string[], requester: Requester): Promise<Embedded>;
	/** Starts the download of the weights if they are missing, without waiting for it. */
	prefetch(): void;
}
