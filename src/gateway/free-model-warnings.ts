import { type Catalog, freeUpstreams } from "../catalog/index.ts";
import type { Config } from "../config/index.ts";
import type { StorePort } from "../store/port.ts";
import type { Log } from "../telemetry/log.ts";

/**
 * Warns of upstreams whose models are given away (docs/models.md): always where the upstream may send a bill, else only
 * where the store has accounts beside the operator's. Each upstream is told once between two calls of `restart`.
 */
export class FreeModelWarnings {
	readonly #store: StorePort;
	readonly #log: Log;
	readonly #told = new Set<string>();

	constructor(store: StorePort, log: Log) {
		this.#store = store;
		this.#log = log;
	}

	/** After a reload everything is news again. */
	restart(): void {
		this.#told.clear();
	}

	/** Looks at a catalog that is in force now. Never throws; the answer of the store is not waited for. */
	check(catalog: Catalog, config: Config): void {
		const untold = freeUpstreams(catalog, config).filter(({ upstream }) => !this.#told.has(upstream));
		const tell = (free: typeof untold) => {
			for (const { upstream, models } of free) this.#tell(upstream, models);
		};
		tell(untold.filter(({ billed }) => billed));
		const ours = untold.filter(({ billed }) => !billed);
		if (ours.length === 0) return;
		this.#store.admin("hasCustomers", {}).then(
			(customers) => {
				if (customers) tell(ours);
			},
			(error: Error) => this.#log.debug({ cause: error.message }, "it is not known whether models at price 0 have customers"),
		);
	}

	#tell(upstream: string, models: number): void {
		if (this.#told.has(upstream)) return;
		this.#told.add(upstream);
		this.#log.warn(
			{ upstream, models },
			"models of this upstream are offered to every account at price 0: price them under models.entries, or set discover: false",
		);
	}
}
