/** Embeddings as the route sees them, from servers with OpenAI's protocol. */
import type { ModelTarget } from "../../catalog/types.ts";
import type { LongStrings } from "../../wire/index.ts";

export type VectorFormat = "float" | "base64";

export interface EmbeddingForward {
	readonly requestId: string;
	/** The tenant in whose share of an upstream's places the call counts. */
	readonly tenant: string;
	readonly targets: readonly ModelTarget[];
	/** The caller's body, unchanged. */
	readonly raw: Uint8Array;
	/** The texts to embed. */
	readonly input: string | readonly string[];
	/** The long strings that are cut in `input`; upstreams get them whole. */
	readonly long: LongStrings;
	/** Numbers in a vector of the model; null: not known. */
	readonly modelDimensions: number | null;
	readonly dimensions: number | undefined;
	readonly format: VectorFormat;
	/** Aborts when the caller leaves. */
	readonly signal: AbortSignal;
	/** Called before each attempt's bytes go out. From then on a caller that leaves is charged. */
	onSent(upstream: string): void;
}

export interface EmbeddingAnswer {
	readonly upstream: string;
	/** Number of attempts before this one. */
	readonly retries: number;
	/** The answer's `data`: JSON in pieces, with one vector for each text in its order, in the requested form. */
	readonly data: readonly Uint8Array[];
	/** Tokens as the upstream counted them; null if it did not. */
	readonly tokens: number | null;
}

export interface EmbeddingUpstreams {
	/** Rejects with an ApiError after all attempts, or with the signal's reason. */
	embed(call: EmbeddingForward): Promise<EmbeddingAnswer>;
}
