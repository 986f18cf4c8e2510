/** Embeddings as the route sees them, over servers that speak OpenAI's protocol. */
import type { ModelTarget } from "../../catalog/types.ts";
import type { LongStrings } from "../../wire/index.ts";

export type VectorFormat = "float" | "base64";

export interface EmbeddingForward {
	readonly requestId: string;
	/** Whose share of an upstream's places it counts in. */
	readonly tenant: string;
	readonly targets: readonly ModelTarget[];
	/** The caller's body as it came. */
	readonly raw: Uint8Array;
	/** What goes to the upstream, but for the model's name. */
	readonly input: string | readonly string[];
	/** The strings of it that are cut, and go to the upstream whole. */
	readonly long: LongStrings;
	/** Numbers that a vector of the model has; null: not known. */
	readonly modelDimensions: number | null;
	readonly dimensions: number | undefined;
	readonly format: VectorFormat;
	/** Aborts when the caller leaves. */
	readonly signal: AbortSignal;
	/** Called before each try's bytes go out: from here on leaving is billed. */
	onSent(upstream: string): void;
}

export interface EmbeddingAnswer {
	readonly upstream: string;
	/** Tries before this one. */
	readonly retries: number;
	/** The `data` of the answer: JSON in pieces, with a vector for each text in its order, in the form that was asked for. */
	readonly data: readonly Uint8Array[];
	/** As the upstream counted them; null where it did not. */
	readonly tokens: number | null;
}

export interface EmbeddingUpstreams {
	/** Rejects with an ApiError, after all tries, or the signal's reason. */
	embed(call: EmbeddingForward): Promise<EmbeddingAnswer>;
}
