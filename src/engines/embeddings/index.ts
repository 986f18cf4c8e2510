/**
 * The embedded embedding model. Promises: the same vector for the same text, whatever it comes with; a text that the
 * model cannot read whole is refused, never cut; a crash fails the request in hand and no other.
 */
export { checkEmbeddingEngine } from "./check.ts";
export {
	EMBEDDED_EMBEDDING_ASSETS,
	EmbeddedEmbeddings,
	type EmbeddedEmbeddingsOptions,
	nativeEmbeddingEngine,
} from "./embedded-embeddings.ts";
export type { Embedded, EmbeddingEngine } from "./port.ts";
