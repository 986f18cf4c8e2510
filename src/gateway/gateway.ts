import { AccountService, createStaking, KeyService, type RuleNames, type Staking, Web3KeyService } from "../access/index.ts";
import { AddressWindows, createBudgets, ExceededLimits, type NodeBudgets, Statements } from "../budgets/index.ts";
import type { Catalog } from "../catalog/index.ts";
import { type ChatDeps, Receipts } from "../completions/index.ts";
import { type Config, VERSION } from "../config/index.ts";
import { engineCounts } from "../engines/engine-records.ts";
import { SchemaChecker } from "../engines/schemas/index.ts";
import { Places } from "../fairness/index.ts";
import { Alerts } from "../observability/alerts/index.ts";
import { Observability } from "../observability/observability.ts";
import { logLevelSetter, serverStateReader } from "../routes/console/index.ts";
import { apiEndpoints, type RouteDeps } from "../routes/index.ts";
import { type App, BodyMemory, createApp, type Endpoint, type PipelineDeps } from "../server/index.ts";
import { systemTimers } from "../telemetry/clock.ts";
import { Traffic } from "../telemetry/traffic.ts";
import { type Attestations, createAttestations } from "../upstreams/attestation/index.ts";
import { createEmbeddingUpstreams } from "../upstreams/embeddings/index.ts";
import { createImageUpstreams } from "../upstreams/images/index.ts";
import { createChatUpstreams, type RunningChatUpstreams } from "../upstreams/index.ts";
import type { RpcCacheStats } from "../upstreams/rpc/cache/cached-upstreams.ts";
import { ApiDocument } from "./api-document.ts";
import { Audio } from "./audio.ts";
import { ChainProxy } from "./chain-proxy.ts";
import { CONSOLE_NAME, Console } from "./console.ts";
import { FreeModelWarnings } from "./free-model-warnings.ts";
import type { GatewayDeps } from "./gateway-deps.ts";
import { LiveCatalog } from "./live-catalog.ts";
import { publicPages } from "./public-pages.ts";
import { restartSettings, settingsOf } from "./settings.ts";
import { Wallets } from "./wallets.ts";
import { Web } from "./web.ts";

/**
 * Assembles the application around one store, and applies a reload (models, prices, upstreams, limits). A faulty
 * configuration is refused before anything changes.
 */
export class Gateway {
	readonly app: App;
	readonly budgets: NodeBudgets;
	readonly pipeline: PipelineDeps;
	readonly staking: Staking;
	readonly #deps: GatewayDeps;
	readonly #catalog: LiveCatalog;
	readonly #observability: Observability;
	readonly #alerts: Alerts;
	readonly #exceededLimits: ExceededLimits;
	readonly #upstreams: RunningChatUpstreams;
	readonly #attestations: Attestations;
	readonly #receipts = new Receipts();
	readonly #chains: ChainProxy;
	readonly #freeModels: FreeModelWarnings;
	readonly #addresses: AddressWindows;
	readonly #wallets: Wallets;
	readonly #audio: Audio;
	readonly #web: Web;
	readonly #schemas: SchemaChecker;
	readonly #traffic: Traffic;
	readonly #console: Console;
	#config: Config;
	#settings: ReturnType<PipelineDeps["settings"]>;

	constructor(deps: GatewayDeps) {
		const { config, store, journal, nodeFolder, clock, log, documents, fetchPublic, port } = deps;
		this.#deps = deps;
		this.#config = config;
		this.#settings = settingsOf(config);
		this.#observability = new Observability({ config, version: VERSION, log });
		this.#freeModels = new FreeModelWarnings(store, log);
		this.#catalog = new LiveCatalog({ ...deps, onChange: (catalog, current) => this.#freeModels.check(catalog, current) });
		const current = () => this.#config;
		this.budgets = createBudgets({ store, journal, clock, failedRequests: () => this.#config.limits.failedRequests });
		this.#exceededLimits = new ExceededLimits(store);
		this.#addresses = new AddressWindows(clock);
		this.#traffic = new Traffic(clock);
		this.#schemas = new SchemaChecker({ log });
		this.#web = new Web({ documents, fetchPublic, clock, log, config: current });
		this.#upstreams = this.#newChatUpstreams();
		this.#attestations = createAttestations(this.#upstreams.attemptDeps);
		const { rpcCatalog: catalog } = deps;
		this.#chains = new ChainProxy({ catalog, config: current, budgets: this.budgets, store, journal, nodeFolder, clock, log });
		this.#audio = this.#newAudio();
		this.#wallets = new Wallets({ config: current, store, clock, log, addresses: this.#addresses, port });
		this.pipeline = this.#newPipeline();
		this.staking = createStaking({ config: config.staking, store, clock, timers: systemTimers, log });
		this.#console = this.#newConsole();
		this.app = this.#newApp();
		this.#freeModels.check(this.#catalog.catalog, config);
		this.#alerts = this.#newAlerts();
		this.#start();
	}

	get catalog(): Catalog {
		return this.#catalog.catalog;
	}

	get config(): Config {
		return this.#config;
	}

	/** Counts chain calls since the start that were answered from the cache or shared. */
	get chainCache(): RpcCacheStats {
		return this.#chains.cache.stats();
	}

	/** Resolves when every upstream has been queried once for its models or its chain id. */
	async discovered(): Promise<void> {
		await Promise.all([this.#catalog.refresh(), this.#chains.upstreams.checked(), this.#observability.ready()]);
	}

	/**
	 * Applies models, prices, upstreams and limits from a new configuration; running requests finish on the old one.
	 * @returns the settings that need a restart to change
	 * @throws {CatalogError} and other configuration errors, before anything has changed
	 */
	reload(config: Config): string[] {
		const applyCatalog = this.#catalog.prepareReload(config);
		const needRestart = restartSettings(this.#config, config);
		this.#chains.reload(config);
		this.#upstreams.reload(config.upstreams, config.timeouts);
		this.#wallets.reload(config);
		// Nothing below throws.
		const { host, port } = this.#config.server;
		this.#config = { ...config, server: { ...config.server, host, port }, data: this.#config.data };
		this.#settings = settingsOf(this.#config);
		this.#deps.log.level = config.log.level;
		this.#freeModels.restart();
		applyCatalog(this.#config);
		return needRestart;
	}

	async stop(): Promise<void> {
		this.#alerts.stop();
		this.staking.reader?.stop();
		await this.#wallets.stop();
		await this.#catalog.stop();
		this.#audio.stop();
		await this.#web.stop();
		this.#upstreams.close();
		await Promise.all([this.#chains.stop(), this.#schemas.stop()]);
		this.#console.close();
		this.budgets.close();
		await this.#exceededLimits.close();
		await this.#observability.stop();
	}

	#start(): void {
		this.#deps.store.onChange(({ kind }) => {
			if (kind === "leases-ended") this.#observability.leasesEnded();
		});
		this.#catalog.start();
		this.staking.reader?.start();
		this.#wallets.start();
	}

	#newChatUpstreams(): RunningChatUpstreams {
		const { log, embedded } = this.#deps;
		return createChatUpstreams({
			upstreams: this.#config.upstreams,
			timeouts: this.#config.timeouts,
			log,
			embedded: { endpoint: () => embedded.endpoint() },
			tracer: this.#observability.tracer,
			fetchPublic: () => this.#web.fetchPublic,
		});
	}

	#newAudio(): Audio {
		const { audio: engines, store, clock } = this.#deps;
		return new Audio({
			engines,
			budgets: this.budgets,
			store,
			clock,
			timers: systemTimers,
			attemptDeps: this.#upstreams.attemptDeps,
			catalog: () => this.#catalog.catalog,
			config: () => this.#config,
		});
	}

	#newPipeline(): PipelineDeps {
		const { clock, log, journal } = this.#deps;
		const { maxBodyBytesInFlight, maxRunning } = this.#config.server;
		return {
			budgets: this.budgets,
			clock,
			log,
			workRefusal: () => journal.workRefusal(),
			wallets: this.#wallets.auth,
			bodyMemory: new BodyMemory(maxBodyBytesInFlight),
			places: new Places(maxRunning),
			exceededLimits: this.#exceededLimits,
			counts: this.#observability.counts,
			tracer: this.#observability.tracer,
			traffic: this.#traffic,
			settings: () => this.#settings,
		};
	}

	#newConsole(): Console {
		const { store, journal, clock, log, rpcCatalog, assets = null, consolePages = null, peers = null, url } = this.#deps;
		const { attemptDeps } = this.#upstreams;
		return new Console({
			store,
			clock,
			log,
			rpcCatalog,
			assets,
			pages: consolePages,
			publicUrl: url,
			budgets: this.budgets,
			addresses: this.#addresses,
			pipeline: this.pipeline,
			setLogLevel: logLevelSetter(log, peers),
			state: serverStateReader({
				traffic: this.#traffic,
				holdsOpen: () => this.budgets.holdsOpen,
				journal,
				clock,
				peers,
			}),
			config: () => this.#config,
			catalog: () => this.#catalog.catalog,
			upstreams: { snapshot: () => this.#upstreams.snapshot(), ask: (name) => attemptDeps.pool.probeNow(name) },
			chains: this.#chains.upstreams,
			chainCache: () => this.chainCache,
			api: () => this.app,
		});
	}

	#newAlerts(): Alerts {
		const { store, journal, clock, log } = this.#deps;
		return new Alerts({
			config: () => this.#config,
			store,
			place: this.#config.store ?? this.#config.data,
			journal,
			upstreams: () => this.#upstreams.snapshot(),
			networks: () => this.#chains.upstreams.snapshot(),
			clock,
			timers: systemTimers,
			log,
		});
	}

	#newApp(): App {
		const endpoints: Endpoint[] = [];
		const ruleNames = this.#ruleNames(endpoints);
		endpoints.push(...apiEndpoints(this.#routeDeps(ruleNames)));
		const document = new ApiDocument({ endpoints: () => endpoints, ruleNames, url: this.#deps.url });
		endpoints.push(document.route());
		return createApp(endpoints, this.#pages(document), this.pipeline);
	}

	#routeDeps(ruleNames: RuleNames): RouteDeps {
		const { store, clock, countTokens, documents, images, embeddings } = this.#deps;
		const { budgets } = this;
		const { attemptDeps } = this.#upstreams;
		const { fetchPublic, pages, search } = this.#web;
		const config = () => this.#config;
		const catalog = () => this.#catalog.catalog;
		const textModels = () =>
			catalog()
				.list("text")
				.filter((model) => model.type === "text");
		const imageUpstreams = createImageUpstreams(attemptDeps, () => this.#config.timeouts, fetchPublic);
		const embeddingUpstreams = createEmbeddingUpstreams(attemptDeps, () => this.#config.timeouts.embeddingsMs);
		const wallMs = () => clock.wallMs();
		return {
			chat: this.#chatDeps(),
			tee: { catalog, attestations: this.#attestations, receipts: this.#receipts, wallMs: wallMs },
			...this.#audio.routeDeps,
			images: { budgets, upstreams: imageUpstreams, engine: images, fetchPublic, catalog, config },
			embeddings: { budgets, upstreams: embeddingUpstreams, engine: embeddings, catalog, config, countTokens },
			textParser: { budgets, documents, countTokens, config },
			scrape: { budgets, pages, config },
			search: { budgets, search, config },
			models: {
				catalog,
				takeAnonymous: (call) => {
					call.rate = this.#addresses.take(call.address, "list", this.#config.limits.listRequestsPerMinute);
				},
			},
			characters: { characters: () => this.#catalog.characters, wallMs },
			...this.#keyDeps(ruleNames, textModels),
			rpc: this.#chains.routeDeps,
			...this.#wallets.routeDeps,
			billing: { statements: new Statements(store), clock, textModels },
		};
	}

	#chatDeps(): ChatDeps {
		const { clock, countTokens, documents } = this.#deps;
		const { search, pages, fetchPublic } = this.#web;
		return {
			budgets: this.budgets,
			upstreams: this.#upstreams,
			clock,
			catalog: () => this.#catalog.catalog,
			characters: () => this.#catalog.characters,
			config: () => this.#config,
			countTokens,
			checkSchema: (value, schema, requester) => this.#schemas.check(value, schema, requester),
			attestations: this.#attestations,
			receipts: this.#receipts,
			web: { search, pages, fetchPublic, documents },
		};
	}

	#keyDeps(ruleNames: RuleNames, textModels: RouteDeps["apiKeys"]["textModels"]): Pick<RouteDeps, "apiKeys" | "adminAccounts"> {
		const { store } = this.#deps;
		const { stakes, chain } = this.staking;
		const { staking } = this.#config;
		const names = { token: staking.token, chain: staking.chain.name };
		const keys = new KeyService(store);
		return {
			apiKeys: {
				keys,
				web3Keys: new Web3KeyService({ store, stakes, chain, names }),
				addresses: this.#addresses,
				ruleNames,
				textModels,
				limits: () => this.#config.limits,
				exceededLimits: this.#exceededLimits,
			},
			adminAccounts: { accounts: new AccountService(store), keys, ruleNames },
		};
	}

	/** Returns the names that a key's restrictions may use. */
	#ruleNames(endpoints: readonly Endpoint[]): RuleNames {
		const { networks, optionalNetworks } = this.#deps.rpcCatalog;
		return {
			get endpoints() {
				return new Set([...endpoints.map((endpoint) => endpoint.name), CONSOLE_NAME]);
			},
			networks: new Set([...networks.keys(), ...optionalNetworks.keys()]),
		};
	}

	#pages(document: ApiDocument) {
		const { journal, store } = this.#deps;
		const metrics = this.#observability.metricsPage({
			token: () => this.#config.metrics.token,
			version: VERSION,
			peers: this.#deps.peers ?? null,
			holdsOpen: () => this.budgets.holdsOpen,
			bodyMemory: this.pipeline.bodyMemory,
			journal,
			node: store.node,
			chainCache: () => this.chainCache,
			chains: () => this.#chains.upstreams.snapshot(),
			finalBlock: (network) => this.#chains.upstreams.heads.finality(network)?.block ?? null,
			upstreams: () => this.#upstreams.snapshot(),
			upstreamCounts: () => this.#upstreams.counts.all(),
			engines: engineCounts,
			alerts: () => this.#alerts.counts(),
		});
		const workRefusal = () => journal.workRefusal();
		return [...publicPages({ workRefusal, docs: () => document.page }), metrics, ...this.#console.pages];
	}
}
