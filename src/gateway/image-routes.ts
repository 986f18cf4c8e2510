import type { NodeBudgets } from "../budgets/index.ts";
import type { Catalog } from "../catalog/index.ts";
import type { Config } from "../config/index.ts";
import type { ImageEngine } from "../engines/images/port.ts";
import { imageRoutes } from "../routes/images/index.ts";
import type { Endpoint } from "../server/index.ts";
import { createImageUpstreams } from "../upstreams/images/index.ts";
import type { AttemptDeps } from "../upstreams/index.ts";
import type { PublicFetch } from "../upstreams/public-fetch/port.ts";

export interface ImageRoutesDeps {
	/** null where pictures cannot be read or written on this machine. */
	readonly engine: ImageEngine | null;
	readonly budgets: NodeBudgets;
	/** The pool of the chat upstreams: the same servers. */
	readonly tools: AttemptDeps;
	readonly fetchPublic: PublicFetch;
	readonly catalog: () => Catalog;
	readonly config: () => Config;
}

/** The image routes put together. */
export function createImageRoutes({ engine, budgets, tools, fetchPublic, catalog, config }: ImageRoutesDeps): Endpoint[] {
	const upstreams = createImageUpstreams(tools, () => config().timeouts, fetchPublic);
	return imageRoutes({ budgets, upstreams, engine, fetchPublic, catalog, config });
}
