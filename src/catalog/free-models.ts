import type { Config } from "../config/index.ts";
import type { Catalog } from "./catalog.ts";
import { isPrivateAddress } from "./private-host.ts";

/** An upstream whose work is given away. */
export interface FreeUpstream {
	readonly upstream: string;
	/** Models that are offered at price 0 and may be answered by it. */
	readonly models: number;
	/** True where it may send the operator a bill: it wants a key, or is beyond the private network. */
	readonly billed: boolean;
}

/** Upstreams with models at price 0 that can be called now. */
export function freeUpstreams(catalog: Catalog, config: Config): FreeUpstream[] {
	const models = new Map<string, number>();
	for (const model of catalog.list("text")) {
		if (model.type !== "text" || model.offline || model.prices.input > 0 || model.prices.output > 0) continue;
		for (const upstream of new Set(model.targets.map((target) => target.upstream)))
			models.set(upstream, (models.get(upstream) ?? 0) + 1);
	}
	return [...models].map(([upstream, count]) => {
		const settings = Object.hasOwn(config.upstreams, upstream) ? config.upstreams[upstream] : undefined;
		const billed = settings !== undefined && (settings.key !== undefined || !isPrivateAddress(settings.url));
		return { upstream, models: count, billed };
	});
}
