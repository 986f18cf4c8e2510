import type { Budgets } from "../../budgets/port.ts";
import type { Catalog } from "../../catalog/index.ts";
import type { Config } from "../../config/index.ts";
import type { EmbeddingEngine } from "../../engines/embeddings/port.ts";
import type { EmbeddingUpstreams } from "../../upstreams/embeddings/port.ts";

/** The dependencies of the embeddings route. They are functions if a reload changes the result. */
export interface EmbeddingsDeps {
	readonly budgets: Budgets;
	readonly upstreams: EmbeddingUpstreams;
	/** The built-in model; null if it cannot run on this machine. */
	readonly engine: EmbeddingEngine | null;
	readonly catalog: () => Catalog;
	readonly config: () => Config;
	readonly countTokens: (text: string, tenant: string) => Promise<number>;
}
