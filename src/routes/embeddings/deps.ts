import type { Budgets } from "../../budgets/port.ts";
import type { Catalog } from "../../catalog/index.ts";
import type { Config } from "../../config/index.ts";
import type { EmbeddingEngine } from "../../engines/embeddings/port.ts";
import type { EmbeddingUpstreams } from "../../upstreams/embeddings/port.ts";

/** What the embeddings route works with: handed in once; functions where a reload changes the answer. */
export interface EmbeddingsDeps {
	readonly budgets: Budgets;
	readonly upstreams: EmbeddingUpstreams;
	/** The built-in model; null where it cannot run here. */
	readonly engine: EmbeddingEngine | null;
	readonly catalog: () => Catalog;
	readonly config: () => Config;
	readonly countTokens: (text: string, tenant: string) => Promise<number>;
}
