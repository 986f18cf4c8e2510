import type { Budgets } from "../../budgets/port.ts";
import type { Catalog } from "../../catalog/index.ts";
import type { Config } from "../../config/index.ts";
import type { ImageEngine } from "../../engines/images/port.ts";
import type { ImageUpstreams } from "../../upstreams/images/port.ts";
import type { PublicFetch } from "../../upstreams/public-fetch/port.ts";

/** The dependencies of the image routes. They are functions if a reload changes the result. */
export interface ImageDeps {
	readonly budgets: Budgets;
	readonly upstreams: ImageUpstreams;
	/** Reads, writes, edits and scores pictures; null if it cannot run on this machine. */
	readonly engine: ImageEngine | null;
	/** Reads pictures at callers' addresses. */
	readonly fetchPublic: PublicFetch;
	readonly catalog: () => Catalog;
	readonly config: () => Config;
}
