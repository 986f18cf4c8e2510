import { type Catalog, freeUpstreams } from "../catalog/index.ts";
import type { Config } from "../config/index.ts";
import type { StorePort } from "../store/port.ts";
import type { Log } from "../telemetry/log.ts";

/**
 * Warns of upstreams whose models are given away (docs/models.md): always if the upstream may send a bill, otherwise only if
 * the store has accounts beside the operator's. Each upstream is reported once between two calls of `restart`.
 */
export class FreeModelWarnings {
	readonly #store: StorePort;
	readonly #log: Log;
	readonly #reportedUpstreams = new Set<string>();

	constructor(store: StorePort, log: Log) {
		this.#store = store;
		this.#log = log;
	}

	/** Forgets which upstreams were reported, for a reload. */
	restart(): void {
		this.#reportedUpstreams.clear();
	}

	/** Checks the current catalog. It never throws, and does not wait for the store's answer. */
	check(catalog: Catalog, config: Config): void {
		const unreported = freeUpstreams(catalog, config).filter(({ upstream }) => !this.#reportedUpstreams.has(upstream));
		const report = (upstreams: typeof unreported) => {
			for (const { upstream, models } of upstreams) this.#report(upstream, models);
		};
		report(unreported.filter(({ billed }) => billed));
		const ownUpstreams = unreported.filter(({ billed }) => !billed);
		if (ownUpstreams.length === 0) return;
		this.#store.admin("hasCustomers", {}).then(
			(customers) => {
				if (customers) report(ownUpstreams);
			},
			(error: Error) => this.#log.debug({ cause: error.message }, "it is not known whether models at price 0 have customers"),
		);
	}

	#report(upstream: string, models: number): void {
		if (this.#reportedUpstreams.has(upstream)) return;
		this.#reportedUpstreams.add(upstream);
		this.#log.warn(
			{ upstream, models },
			"models of this upstream are offered to every account at price 0: price them under models.entries, or set discover: false",
		);
	}
}
