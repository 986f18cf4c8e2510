import { createRpcBudgets, type NodeBudgets, type RpcBudgets } from "../budgets/index.ts";
import type { RpcCatalog } from "../catalog/rpc/index.ts";
import type { Config } from "../config/index.ts";
import type { Journal } from "../journal/index.ts";
import type { RpcDeps } from "../routes/crypto-rpc/index.ts";
import type { StorePort } from "../store/port.ts";
import type { Clock } from "../telemetry/clock.ts";
import type { Log } from "../telemetry/log.ts";
import { CachedUpstreams } from "../upstreams/rpc/cache/cached-upstreams.ts";
import { createRpcUpstreams, type RunningRpcUpstreams } from "../upstreams/rpc/upstreams.ts";

export interface ChainProxyDeps {
	readonly catalog: RpcCatalog;
	readonly config: () => Config;
	readonly budgets: NodeBudgets;
	readonly store: StorePort;
	readonly journal: Journal;
	/** See `GatewayDeps`. */
	readonly nodeFolder: string;
	readonly clock: Clock;
	readonly log: Log;
}

const MIB = 1_048_576;

/** Assembles the chain proxy: its upstreams, its cache, and what its routes need. */
export class ChainProxy {
	readonly upstreams: RunningRpcUpstreams;
	/** The upstreams behind an in-memory cache, as the routes call them. */
	readonly cache: CachedUpstreams;
	readonly routeDeps: RpcDeps;
	readonly #budgets: RpcBudgets;

	/** @throws {ConfigError} if the configuration names an unknown network */
	constructor({ catalog, config, budgets, store, journal, nodeFolder, clock, log }: ChainProxyDeps) {
		const { rpc, timeouts } = config();
		this.upstreams = createRpcUpstreams({ catalog, config: rpc, timeouts, log });
		this.cache = new CachedUpstreams(this.upstreams, this.upstreams.heads, { maxBytes: rpc.cacheMb * MIB });
		const sendsKeptDays = () => config().rpc.sendsKeptDays;
		this.#budgets = createRpcBudgets({ store, journal, clock, log, dataDir: nodeFolder, sendsKeptDays });
		const { credits, idempotency, sends } = this.#budgets;
		this.routeDeps = { budgets, credits, idempotency, sends, catalog, upstreams: this.cache, config };
	}

	/**
	 * Replaces the upstreams and time limits.
	 * @throws {ConfigError} before anything has changed
	 */
	reload({ rpc, timeouts }: Config): void {
		this.upstreams.reload(rpc, timeouts);
		this.cache.resize(rpc.cacheMb * MIB);
	}

	async stop(): Promise<void> {
		this.cache.close();
		this.upstreams.close();
		await this.#budgets.close();
	}
}
