import { buildCatalog, type Catalog, Characters, type DiscoveredModel, Discovery, loadCharacterData } from "../catalog/index.ts";
import type { Config } from "../config/index.ts";
import type { Clock } from "../telemetry/clock.ts";
import type { Log } from "../telemetry/log.ts";
import type { GatewayDeps } from "./gateway-deps.ts";

export interface LiveCatalogDeps
	extends Pick<GatewayDeps, "data" | "embeddedAvailable" | "audio" | "embeddings" | "images" | "config"> {
	readonly clock: Clock;
	readonly log: Log;
	/** Called after each change of the catalog, with the configuration from which it was built. */
	onChange(catalog: Catalog, config: Config): void;
}

/** Maps each upstream to its model list. */
type Lists = ReadonlyMap<string, readonly DiscoveredModel[]>;

/**
 * The current catalog. It is rebuilt when an upstream lists its models and when the configuration is reloaded; a failed build
 * leaves the previous catalog in use.
 */
export class LiveCatalog {
	readonly #deps: LiveCatalogDeps;
	#config: Config;
	#catalog: Catalog;
	#characters: Characters;
	#discovery: Discovery;
	/** The last valid list of each upstream. A list survives a reload if the upstream's address does not change. */
	readonly #lists = new Map<string, readonly DiscoveredModel[]>();

	/** @throws {CatalogError} if the configuration and the data files contradict each other */
	constructor(deps: LiveCatalogDeps) {
		this.#deps = deps;
		this.#config = deps.config;
		this.#discovery = this.#newDiscovery(deps.config);
		({ catalog: this.#catalog, characters: this.#characters } = this.#build(deps.config, this.#lists));
	}

	get catalog(): Catalog {
		return this.#catalog;
	}

	get characters(): Characters {
		return this.#characters;
	}

	/** Starts to query upstreams for their models. */
	start(): void {
		void this.#discovery.start();
	}

	/** Resolves when every upstream has been queried once. */
	refresh(): Promise<void> {
		return this.#discovery.refresh();
	}

	stop(): Promise<void> {
		return this.#discovery.stop();
	}

	/**
	 * Builds the catalog of a new configuration. The returned function activates it; until then nothing has changed.
	 * @throws {CatalogError}
	 */
	prepareReload(config: Config): (config: Config) => void {
		const lists = new Map([...this.#lists].filter(([name]) => config.upstreams[name]?.url === this.#config.upstreams[name]?.url));
		const built = this.#build(config, lists);
		return (merged) => {
			for (const name of this.#lists.keys()) if (!lists.has(name)) this.#lists.delete(name);
			const previousDiscovery = this.#discovery;
			this.#discovery = this.#newDiscovery(config);
			void previousDiscovery.stop();
			this.#config = merged;
			({ catalog: this.#catalog, characters: this.#characters } = built);
			this.#deps.onChange(this.#catalog, merged);
			this.start();
		};
	}

	#build(config: Config, discovered: Lists): { catalog: Catalog; characters: Characters } {
		const { data, embeddedAvailable, audio, embeddings, images, clock, log } = this.#deps;
		const catalog = buildCatalog({
			data,
			config,
			discovered,
			embeddedAvailable,
			speechAvailable: audio.speech !== null,
			embeddingsAvailable: embeddings !== null,
			imagesAvailable: images !== null,
			wallMs: () => clock.wallMs(),
		});
		for (const warning of catalog.warnings) log.warn({}, warning);
		const characters = config.characters === undefined ? data.characters : loadCharacterData(config.characters);
		return { catalog, characters: new Characters(characters, catalog) };
	}

	#newDiscovery(config: Config): Discovery {
		const { log } = this.#deps;
		const discovery: Discovery = new Discovery({
			upstreams: config.upstreams,
			retryMs: config.models.discoverEveryMs,
			onChange: (upstream) => {
				// This result belongs to a configuration that has been replaced.
				if (discovery !== this.#discovery) return;
				const models = discovery.status(upstream)?.models ?? [];
				log.info({ upstream, models: models.length }, "an upstream listed its models");
				this.#lists.set(upstream, models);
				this.#rebuild(upstream);
			},
			onFault: (upstream, error) =>
				log.warn({ upstream, cause: error.message }, "an upstream did not list its models; it is retried"),
		});
		return discovery;
	}

	#rebuild(upstream: string): void {
		try {
			({ catalog: this.#catalog, characters: this.#characters } = this.#build(this.#config, this.#lists));
			this.#deps.onChange(this.#catalog, this.#config);
		} catch (error) {
			const cause = String(error);
			this.#deps.log.error({ upstream, cause }, "the catalog could not take an upstream's list; the one before stays");
		}
	}
}
