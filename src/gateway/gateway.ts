import { AccountService, createStaking, KeyService, type RuleNames, type Staking, Web3KeyService } from "../access/index.ts";
import type { NodeBudgets } from "../budgets/index.ts";
import { AddressWindows, createBudgets, ExceededLimits, Statements } from "../budgets/index.ts";
import { buildCatalog, type Catalog, Characters, type DiscoveredModel, Discovery, loadCharacterData } from "../catalog/index.ts";
import { type ChatDeps, Receipts } from "../completions/index.ts";
import { type Config, VERSION } from "../config/index.ts";
import { engineCounts } from "../engines/engine-records.ts";
import { SchemaChecker } from "../engines/schemas/index.ts";
import { Places } from "../fairness/index.ts";
import { Alerts } from "../observability/alerts/index.ts";
import { Observability } from "../observability/observability.ts";
import { adminAccountRoutes } from "../routes/admin-accounts/index.ts";
import { apiKeyRoutes } from "../routes/api-keys/index.ts";
import { billingRoutes } from "../routes/billing/index.ts";
import { characterRoutes } from "../routes/characters/index.ts";
import { chatCompletions } from "../routes/chat-completions/index.ts";
import { completions } from "../routes/completions/index.ts";
import { embeddings } from "../routes/embeddings/index.ts";
import { messages } from "../routes/messages/index.ts";
import { modelRoutes } from "../routes/models/index.ts";
import { responses } from "../routes/responses/index.ts";
import { teeRoutes } from "../routes/tee/index.ts";
import { textParser } from "../routes/text-parser/index.ts";
import { type App, BodyMemory, createApp, type Endpoint, type PipelineDeps } from "../server/index.ts";
import { systemTimers } from "../telemetry/clock.ts";
import { Traffic } from "../telemetry/traffic.ts";
import { type Attestations, createAttestations } from "../upstreams/attestation/index.ts";
import { createEmbeddingUpstreams } from "../upstreams/embeddings/index.ts";
import { createChatUpstreams, type RunningChatUpstreams } from "../upstreams/index.ts";
import type { RpcCacheStats } from "../upstreams/rpc/cache/cached-upstreams.ts";
import { ApiDocument } from "./api-document.ts";
import { AudioRoutes } from "./audio-routes.ts";
import { ChainProxy } from "./chain-proxy.ts";
import { CONSOLE_NAME, Console } from "./console.ts";
import { FreeModelWarnings } from "./free-model-warnings.ts";
import type { GatewayDeps } from "./gateway-deps.ts";
import { createImageRoutes } from "./image-routes.ts";
import { publicPages } from "./public-pages.ts";
import { restartSettings, settingsOf } from "./settings.ts";
import { Wallets } from "./wallets.ts";
import { WebRoutes } from "./web-routes.ts";

/**
 * All parts put together around one store: the application, and what changes at a reload (models, prices,
 * upstreams, limits). A faulty configuration is refused before anything changes.
 */
export class Gateway {
	readonly app: App;
	readonly budgets: NodeBudgets;
	readonly pipeline: PipelineDeps;
	readonly staking: Staking;
	readonly #inputs: GatewayDeps;
	readonly #observing: Observability;
	readonly #alerts: Alerts;
	readonly #exceededLimits: ExceededLimits;
	readonly #upstreams: RunningChatUpstreams;
	readonly #attestations: Attestations;
	readonly #receipts = new Receipts();
	readonly #chains: ChainProxy;
	readonly #freeModels: FreeModelWarnings;
	readonly #web3Keys: Web3KeyService;
	readonly #addresses: AddressWindows;
	readonly #wallets: Wallets;
	readonly #audio: AudioRoutes;
	readonly #web: WebRoutes;
	readonly #schemas: SchemaChecker;
	readonly #traffic: Traffic;
	readonly #console: Console;
	#config: Config;
	#catalog: Catalog;
	#characters: Characters;
	#discovery: Discovery;
	/** Upstream -> its last good list. Kept over a reload where the address stays. */
	readonly #lists = new Map<string, readonly DiscoveredModel[]>();
	#settings: ReturnType<PipelineDeps["settings"]>;

	constructor(inputs: GatewayDeps) {
		const { config, store, journal, clock, log } = inputs;
		this.#inputs = inputs;
		this.#observing = new Observability({ config, version: VERSION, log });
		this.#config = config;
		this.#discovery = this.#newDiscovery(config);
		({ catalog: this.#catalog, characters: this.#characters } = this.#build(config, this.#lists));
		this.#settings = settingsOf(config);
		this.budgets = createBudgets({ store, journal, clock, failedRequests: () => this.#config.limits.failedRequests });
		this.#exceededLimits = new ExceededLimits(store);
		this.#upstreams = createChatUpstreams({
			upstreams: config.upstreams,
			timeouts: config.timeouts,
			log,
			embedded: { endpoint: () => inputs.embedded.endpoint() },
			tracer: this.#observing.tracer,
			fetchPublic: () => this.#web.fetchPublic,
		});
		this.#attestations = createAttestations(this.#upstreams.tools);
		this.#chains = new ChainProxy({
			catalog: inputs.rpcCatalog,
			config: () => this.#config,
			budgets: this.budgets,
			store,
			journal,
			clock,
			log,
		});
		this.#audio = new AudioRoutes({
			engines: inputs.audio,
			budgets: this.budgets,
			store,
			clock,
			timers: systemTimers,
			tools: this.#upstreams.tools,
			catalog: () => this.#catalog,
			config: () => this.#config,
		});
		this.#schemas = new SchemaChecker({ log });
		this.#web = new WebRoutes({
			budgets: this.budgets,
			documents: inputs.documents,
			fetchPublic: inputs.fetchPublic,
			clock,
			log,
			config: () => this.#config,
		});
		this.#addresses = new AddressWindows(clock);
		this.#traffic = new Traffic(clock);
		this.#wallets = new Wallets({
			config: () => this.#config,
			store,
			clock,
			log,
			addresses: this.#addresses,
			port: inputs.port,
		});
		this.pipeline = {
			budgets: this.budgets,
			clock,
			log,
			workRefusal: () => journal.workRefusal(),
			wallets: this.#wallets.gate,
			bodyMemory: new BodyMemory(config.server.maxBodyBytesInFlight),
			places: new Places(config.server.maxRunning),
			exceededLimits: this.#exceededLimits,
			counts: this.#observing.counts,
			tracer: this.#observing.tracer,
			traffic: this.#traffic,
			settings: () => this.#settings,
		};
		this.staking = createStaking({ config: config.staking, store, clock, timers: systemTimers, log });
		const names = { token: config.staking.token, chain: config.staking.chain.name };
		this.#web3Keys = new Web3KeyService({ store, stakes: this.staking.stakes, chain: this.staking.chain, names });
		this.#console = this.#newConsole();
		const endpoints = this.#endpoints();
		const ruleNames = this.#ruleNames(() => endpoints);
		const document = new ApiDocument({ endpoints: () => endpoints, ruleNames, url: this.#inputs.url });
		endpoints.push(document.route());
		this.app = createApp(endpoints, this.#pages(document), this.pipeline);
		this.#freeModels = new FreeModelWarnings(store, log);
		this.#freeModels.check(this.#catalog, config);
		this.#alerts = new Alerts({
			config: () => this.#config,
			store,
			place: config.store ?? config.data,
			journal,
			upstreams: () => this.#upstreams.snapshot(),
			networks: () => this.#chains.upstreams.snapshot(),
			clock,
			timers: systemTimers,
			log,
		});
		store.onChange(({ kind }) => {
			if (kind === "leases-ended") this.#observing.leasesEnded();
		});
		void this.#discovery.start();
		this.staking.reader?.start();
		this.#wallets.start();
	}

	get catalog(): Catalog {
		return this.#catalog;
	}

	get config(): Config {
		return this.#config;
	}

	/** What of the calls of chains came from memory or was shared, since the start. */
	get chainCache(): RpcCacheStats {
		return this.#chains.cache.stats();
	}

	/** Resolves when every upstream has been asked once: for its models, or which chain it serves. */
	async discovered(): Promise<void> {
		await Promise.all([this.#discovery.refresh(), this.#chains.upstreams.checked(), this.#observing.ready()]);
	}

	/**
	 * Takes models, prices, upstreams and limits from a new configuration; running requests finish on the old
	 * one. Returns what needs a restart to change. Throws `CatalogError`; whatever it throws, nothing has changed then.
	 */
	reload(config: Config): string[] {
		const lists = new Map([...this.#lists].filter(([name]) => config.upstreams[name]?.url === this.#config.upstreams[name]?.url));
		const built = this.#build(config, lists);
		const needRestart = restartSettings(this.#config, config);
		this.#chains.reload(config);
		this.#upstreams.reload(config.upstreams, config.timeouts);
		this.#wallets.reload(config);
		// From here on nothing throws.
		for (const name of this.#lists.keys()) if (!lists.has(name)) this.#lists.delete(name);
		const discovery = this.#newDiscovery(config);
		void this.#discovery.stop();
		this.#discovery = discovery;
		this.#config = {
			...config,
			server: { ...config.server, host: this.#config.server.host, port: this.#config.server.port },
			data: this.#config.data,
		};
		this.#catalog = built.catalog;
		this.#characters = built.characters;
		this.#settings = settingsOf(this.#config);
		this.#inputs.log.level = config.log.level;
		this.#freeModels.restart();
		this.#freeModels.check(this.#catalog, this.#config);
		void discovery.start();
		return needRestart;
	}

	async stop(): Promise<void> {
		this.#alerts.stop();
		this.staking.reader?.stop();
		await this.#wallets.stop();
		await this.#discovery.stop();
		this.#audio.stop();
		await this.#web.stop();
		this.#upstreams.close();
		await Promise.all([this.#chains.stop(), this.#schemas.stop()]);
		this.#console.close();
		this.budgets.close();
		await this.#exceededLimits.close();
		await this.#observing.stop();
	}

	#build(
		config: Config,
		discovered: ReadonlyMap<string, readonly DiscoveredModel[]>,
	): { catalog: Catalog; characters: Characters } {
		const { data, embeddedAvailable, audio, clock, log } = this.#inputs;
		const speechAvailable = audio.speech !== null;
		const embeddingsAvailable = this.#inputs.embeddings !== null;
		const catalog = buildCatalog({
			data,
			config,
			discovered,
			embeddedAvailable,
			speechAvailable,
			embeddingsAvailable,
			imagesAvailable: this.#inputs.images !== null,
			now: () => clock.wallMs(),
		});
		for (const warning of catalog.warnings) log.warn({}, warning);
		const characters = config.characters === undefined ? data.characters : loadCharacterData(config.characters);
		return { catalog, characters: new Characters(characters, catalog) };
	}

	#newDiscovery(config: Config): Discovery {
		const { log } = this.#inputs;
		const discovery: Discovery = new Discovery({
			upstreams: config.upstreams,
			retryMs: config.models.discoverEveryMs,
			onChange: (upstream) => {
				if (discovery !== this.#discovery) return;
				const models = discovery.status(upstream)?.models ?? [];
				log.info({ upstream, models: models.length }, "an upstream listed its models");
				this.#lists.set(upstream, models);
				try {
					({ catalog: this.#catalog, characters: this.#characters } = this.#build(this.#config, this.#lists));
					this.#freeModels.check(this.#catalog, this.#config);
				} catch (error) {
					log.error({ upstream, cause: String(error) }, "the catalog could not take an upstream's list; the one before stays");
				}
			},
			onFault: (upstream, error) =>
				log.warn({ upstream, cause: error.message }, "an upstream did not list its models; it is asked again"),
		});
		return discovery;
	}

	#newConsole(): Console {
		const { store, journal, clock, log, rpcCatalog, assets = null, consolePages = null, url } = this.#inputs;
		const { tools } = this.#upstreams;
		return new Console({
			store,
			journal,
			clock,
			log,
			rpcCatalog,
			assets,
			pages: consolePages,
			publicUrl: url,
			budgets: this.budgets,
			addresses: this.#addresses,
			pipeline: this.pipeline,
			traffic: this.#traffic,
			config: () => this.#config,
			catalog: () => this.#catalog,
			holdsOpen: () => this.budgets.holdsOpen,
			upstreams: { snapshot: () => this.#upstreams.snapshot(), ask: (name) => tools.pool.probeNow(name) },
			chains: this.#chains.upstreams,
			chainCache: () => this.chainCache,
			api: () => this.app,
		});
	}

	#endpoints(): Endpoint[] {
		const { clock, countTokens, documents } = this.#inputs;
		const catalog = () => this.#catalog;
		const characters = () => this.#characters;
		const addresses = this.#addresses;
		const keys = new KeyService(this.#inputs.store);
		const ruleNames = this.#ruleNames(() => endpoints);
		const chat: ChatDeps = {
			budgets: this.budgets,
			upstreams: this.#upstreams,
			clock,
			catalog,
			characters,
			config: () => this.#config,
			countTokens,
			checkSchema: (value, schema, requester) => this.#schemas.check(value, schema, requester),
			attestations: this.#attestations,
			receipts: this.#receipts,
			web: { search: this.#web.search, pages: this.#web.pages, fetchPublic: this.#web.fetchPublic, documents },
		};
		const textModels = () =>
			catalog()
				.list("text")
				.filter((model) => model.type === "text");
		const endpoints: Endpoint[] = [
			chatCompletions(chat),
			completions(chat),
			responses(chat),
			...messages(chat),
			...teeRoutes({ catalog, attestations: this.#attestations, receipts: this.#receipts, now: () => clock.wallMs() }),
			...this.#audio.routes,
			...createImageRoutes({
				engine: this.#inputs.images,
				budgets: this.budgets,
				tools: this.#upstreams.tools,
				fetchPublic: this.#web.fetchPublic,
				catalog,
				config: () => this.#config,
			}),
			embeddings({
				budgets: this.budgets,
				upstreams: createEmbeddingUpstreams(this.#upstreams.tools, () => this.#config.timeouts.embeddingsMs),
				engine: this.#inputs.embeddings,
				catalog,
				config: () => this.#config,
				countTokens,
			}),
			textParser({ budgets: this.budgets, documents, countTokens, config: () => this.#config }),
			...this.#web.routes,
			...modelRoutes(catalog, (call) => {
				call.rate = addresses.take(call.address, "list", this.#config.limits.listRequestsPerMinute);
			}),
			...characterRoutes(characters, () => clock.wallMs()),
			...apiKeyRoutes({
				keys,
				web3Keys: this.#web3Keys,
				addresses,
				ruleNames,
				textModels,
				limits: () => this.#config.limits,
				exceededLimits: this.#exceededLimits,
			}),
			...adminAccountRoutes({ accounts: new AccountService(this.#inputs.store), keys, ruleNames }),
			...this.#chains.routes,
			...this.#wallets.routes,
			...billingRoutes({ statements: new Statements(this.#inputs.store), clock, textModels }),
		];
		return endpoints;
	}

	/** What a key may be restricted to. */
	#ruleNames(endpoints: () => readonly Endpoint[]): RuleNames {
		const { networks, optionalNetworks } = this.#inputs.rpcCatalog;
		return {
			get endpoints() {
				return new Set([...endpoints().map((endpoint) => endpoint.name), CONSOLE_NAME]);
			},
			networks: new Set([...networks.keys(), ...optionalNetworks.keys()]),
		};
	}

	#pages(document: ApiDocument) {
		const metrics = this.#observing.metricsPage({
			token: () => this.#config.metrics.token,
			version: VERSION,
			holdsOpen: () => this.budgets.holdsOpen,
			bodyMemory: this.pipeline.bodyMemory,
			journal: this.#inputs.journal,
			node: this.#inputs.store.node,
			chainCache: () => this.chainCache,
			chains: () => this.#chains.upstreams.snapshot(),
			finalBlock: (network) => this.#chains.upstreams.heads.finality(network)?.block ?? null,
			upstreams: () => this.#upstreams.snapshot(),
			upstreamCounts: () => this.#upstreams.counts.all(),
			engines: engineCounts,
			alerts: () => this.#alerts.counts(),
		});
		return [
			...publicPages({
				workRefusal: () => this.#inputs.journal.workRefusal(),
				docs: () => document.page,
			}),
			metrics,
			...this.#console.pages,
		];
	}
}
