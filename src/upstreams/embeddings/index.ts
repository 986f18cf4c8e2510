/**
 * Embeddings from servers with OpenAI's protocol. They share the pool, health and limits of chat. Vectors in the
 * requested form are passed on unchanged; others are converted. Fewer or more vectors than texts are a fault of the
 * upstream.
 */
import type { AttemptDeps } from "../attempts.ts";
import { embed } from "./embed.ts";
import type { EmbeddingUpstreams } from "./port.ts";

export type * from "./port.ts";

/** Creates the embedding upstreams. `limitMs` is read for each call, because a reload changes it. */
export function createEmbeddingUpstreams(deps: AttemptDeps, limitMs: () => number): EmbeddingUpstreams {
	return { embed: (call) => embed(call, deps, limitMs()) };
}
