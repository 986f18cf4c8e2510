/**
 * Embeddings by servers that speak OpenAI's protocol. Promises: the same pool, health and limits as for chat; vectors go
 * through as they came, unless they came in the other form; a count that is not the texts' is a fault of the upstream.
 */
import type { AttemptDeps } from "../attempts.ts";
import { embed } from "./embed.ts";
import type { EmbeddingUpstreams } from "./port.ts";

export type * from "./port.ts";

/** `limitMs` is read for each call: a reload changes it. */
export function createEmbeddingUpstreams(deps: AttemptDeps, limitMs: () => number): EmbeddingUpstreams {
	return { embed: (call) => embed(call, deps, limitMs()) };
}
