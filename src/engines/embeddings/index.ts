/**
 * The embedded embedding model. A text always has the same vector, whatever other texts come with it; a text that is too long
 * is refused, never truncated; a crash fails only the request in progress.
 */
export { checkEmbeddingEngine } from "./check.ts";
export {
	EMBEDDED_EMBEDDING_ASSETS,
	EmbeddedEmbeddings,
	type EmbeddedEmbeddingsOptions,
	nativeEmbeddingEngine,
} from "./embedded-embeddings.ts";
export type { Embedded, EmbeddingEngine } from "./port.ts";
