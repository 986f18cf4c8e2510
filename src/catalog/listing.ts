import type { DiscoveredModel } from "./types.ts";

export interface Listing {
	readonly upstream: string;
	readonly model: DiscoveredModel;
}
