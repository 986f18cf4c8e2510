import type { RpcCatalog, RpcNetwork } from "../../catalog/rpc/types.ts";
import { SettingError } from "../../config/index.ts";
import type { Config, RpcConfig, RpcUpstreamConfig } from "../../config/schema.ts";
import type { Log } from "../../telemetry/log.ts";
import { systemTimerClock, type TimerClock } from "../../telemetry/timer-clock.ts";
import type { CallCounts } from "../call-counts.ts";
import type { Fetch } from "../fetch.ts";
import type { HealthState } from "../health.ts";
import { NO_SECRETS, type SecretMask } from "../secret-mask.ts";
import { batch } from "./batch.ts";
import type { CallDeps } from "./call-deps.ts";
import { checkChain, readHeads } from "./chain-check.ts";
import { FaultLog } from "./fault-log.ts";
import type { RpcHeads } from "./head-port.ts";
import { lookUpTransaction } from "./look-up.ts";
import { maskAnswer, maskBatch, rpcMask } from "./mask-answers.ts";
import { type ChainState, memberOf, type RpcMember, serverOf } from "./member.ts";
import { type FinalityListener, type NetworkDeps, NetworkPool } from "./network.ts";
import type { RpcUpstreams } from "./port.ts";
import { publicEndpoints } from "./public-endpoints.ts";
import { single } from "./single.ts";

export type RpcTimeouts = Pick<Config["timeouts"], "rpcMs" | "rpcSlowMs">;

export interface RpcUpstreamsOptions {
	readonly catalog: Pick<RpcCatalog, "networks" | "optionalNetworks">;
	readonly config: RpcConfig;
	readonly timeouts: RpcTimeouts;
	readonly log: Log;
	readonly fetch?: Fetch;
	readonly clock?: TimerClock;
	readonly random?: () => number;
	/** Returns URLs of public endpoints of a chain, for tests. Default: those of viem's definition. */
	readonly publicEndpoints?: (network: RpcNetwork) => Promise<readonly string[]>;
}

/** The state of a chain's upstream on a status page. Path and headers are left out, since they may contain a key. */
export interface RpcMemberStatus {
	readonly name: string;
	readonly origin: string;
	readonly chain: ChainState;
	readonly state: HealthState;
	readonly running: number;
	readonly maxConcurrent: number | null;
	readonly consecutiveFaults: number;
	readonly lastFault: string | null;
	readonly busy: boolean;
	readonly isPublic: boolean;
	/** The newest block that it reported. */
	readonly reached: number | null;
	readonly counts: CallCounts;
}

export interface RpcNetworkStatus {
	readonly network: string;
	readonly online: boolean;
	readonly upstreams: readonly RpcMemberStatus[];
}

/** Chain upstreams with the operator's actions. */
export interface RunningRpcUpstreams extends RpcUpstreams {
	/** The final blocks of networks in use. */
	readonly heads: RpcHeads;
	/**
	 * Replaces upstreams and time limits. Calls in progress finish with the old ones.
	 * @throws SettingError, and then changes nothing
	 */
	reload(config: RpcConfig, timeouts: RpcTimeouts): void;
	/** Resolves when the chain of every upstream was checked once. */
	checked(): Promise<void>;
	/** Returns the enabled networks with upstreams, by slug, for status pages. */
	snapshot(): RpcNetworkStatus[];
	/** Returns the enabled network with this slug. */
	network(slug: string): RpcNetwork | undefined;
	/** Stops probes. Calls in progress continue. */
	close(): void;
}

/** Forwards chain calls to the configured upstreams (docs/rpc.md). Throws a SettingError for an unknown network. */
export function createRpcUpstreams(options: RpcUpstreamsOptions): RunningRpcUpstreams {
	return new Upstreams(options);
}

class Upstreams implements RunningRpcUpstreams {
	readonly #options: RpcUpstreamsOptions;
	readonly #clock: TimerClock;
	readonly #networkDeps: Omit<NetworkDeps, "hedgePercent">;
	readonly #pools = new Map<string, NetworkPool>();
	readonly #finalityListeners = new Set<FinalityListener>();
	#networks: ReadonlyMap<string, RpcNetwork> = new Map();
	/** The networks' slugs in order, cached because every call reads them. */
	#slugs: readonly string[] = [];
	#deps: CallDeps;
	#mask: SecretMask = NO_SECRETS;
	#publicLookup: Promise<unknown> = Promise.resolve();
	#config: RpcConfig;
	#closed = false;

	constructor(options: RpcUpstreamsOptions) {
		const { log, timeouts, clock = systemTimerClock, fetch = globalThis.fetch as Fetch, random = Math.random } = options;
		this.#options = options;
		this.#clock = clock;
		this.#config = options.config;
		this.#networkDeps = {
			clock,
			log,
			random,
			probe: (member, network) => checkChain(fetch, clock, member, network),
			readHeads: (member, network, toAskAgain) => readHeads(fetch, clock, member, network, toAskAgain),
			finalityListeners: this.#finalityListeners,
		};
		this.#deps = { fetch, clock, faults: new FaultLog(log, clock), ...pick(timeouts) };
		this.#apply(options.config);
	}

	networks(): readonly string[] {
		return this.#slugs;
	}

	online(): string[] {
		return this.networks().filter((slug) => this.#pools.get(slug)?.isOnline ?? false);
	}

	network(slug: string): RpcNetwork | undefined {
		return this.#networks.get(slug);
	}

	readonly heads: RpcHeads = {
		finality: (slug) => this.#pools.get(slug)?.heads.finality ?? null,
		onFinality: (listener) => {
			this.#finalityListeners.add(listener);
			return () => void this.#finalityListeners.delete(listener);
		},
	};

	single: RpcUpstreams["single"] = async (call) =>
		maskAnswer(await single(call, this.#pools.get(call.network.slug), this.#deps), this.#mask);

	batch: RpcUpstreams["batch"] = async (call) =>
		maskBatch(await batch(call, this.#pools.get(call.network.slug), this.#deps), this.#mask);

	lookUp: RpcUpstreams["lookUp"] = (network, txHash, requestId, signal) =>
		lookUpTransaction(this.#pools.get(network.slug), this.#deps, { network, txHash, requestId, signal });

	reload(config: RpcConfig, timeouts: RpcTimeouts): void {
		this.#apply(config);
		this.#config = config;
		this.#deps.faults.reset();
		this.#deps = { ...this.#deps, ...pick(timeouts) };
	}

	async checked(): Promise<void> {
		await this.#publicLookup;
		await Promise.all([...this.#pools.values()].map((pool) => pool.checked));
	}

	snapshot(): RpcNetworkStatus[] {
		const nowMs = this.#clock.monotonicMs();
		return this.networks().flatMap((network) => {
			const pool = this.#pools.get(network);
			if (pool === undefined) return [];
			return [{ network, online: pool.isOnline, upstreams: pool.members.map((member) => statusOf(member, nowMs)) }];
		});
	}

	close(): void {
		this.#closed = true;
		for (const pool of this.#pools.values()) pool.close();
		this.#pools.clear();
	}

	#apply(config: RpcConfig): void {
		const networks = switchedOn(config, this.#options.catalog);
		// Nothing throws from here on.
		this.#mask = rpcMask(config);
		this.#networks = networks;
		this.#slugs = [...networks.keys()].sort();
		for (const [slug, pool] of this.#pools) {
			if (networks.has(slug) && !this.#hasNone(config, slug, pool)) continue;
			pool.close();
			this.#pools.delete(slug);
		}
		const bare: RpcNetwork[] = [];
		for (const network of networks.values()) {
			const upstreams = config.networks[network.slug]?.upstreams ?? [];
			if (upstreams.length > 0) this.#setMembers(network, upstreams, false, config);
			else if (config.public) bare.push(network);
		}
		if (bare.length > 0) this.#publicLookup = this.#usePublic(bare, config);
	}

	/** Returns true if a network loses all its upstreams, the operator's and public ones. */
	#hasNone(config: RpcConfig, slug: string, pool: NetworkPool): boolean {
		if ((config.networks[slug]?.upstreams.length ?? 0) > 0) return false;
		return !config.public || pool.members.some(({ isPublic }) => !isPublic);
	}

	#setMembers(network: RpcNetwork, upstreams: readonly RpcUpstreamConfig[], isPublic: boolean, config: RpcConfig): void {
		let pool = this.#pools.get(network.slug);
		if (pool === undefined) {
			pool = new NetworkPool(network, { ...this.#networkDeps, hedgePercent: config.hedgePercent });
			this.#pools.set(network.slug, pool);
		}
		pool.hedges.percent = config.hedgePercent;
		const [before, names] = [pool.members, namesOf(upstreams)];
		const members = upstreams.map((upstream, index) => {
			const settings = { network: network.slug, name: names[index] ?? upstream.url, config: upstream, isPublic };
			const server = serverOf(upstream);
			const sameServer = before.find((member) => member.server === server);
			const member = memberOf({ ...settings, server, before: sameServer });
			return sameServer !== undefined && sameServer.settings === member.settings ? sameServer : member;
		});
		pool.replace(members);
	}

	/** Adds public endpoints. They come from the chains' own definitions, which are loaded only if they are used. */
	async #usePublic(networks: readonly RpcNetwork[], config: RpcConfig): Promise<void> {
		const { log, publicEndpoints: find = publicEndpoints } = this.#options;
		log.warn(
			{ networks: networks.map(({ slug }) => slug) },
			"public endpoints are in use (rpc.public): every call of these networks is shown to third parties",
		);
		for (const network of networks) {
			try {
				const urls = await find(network);
				if (this.#closed || config !== this.#config || urls.length === 0) continue;
				this.#setMembers(network, urls.map(publicUpstream), true, config);
			} catch (error) {
				log.error({ network: network.slug, cause: String(error) }, "a chain's public endpoints could not be found");
			}
		}
	}
}

/**
 * Returns the enabled networks.
 * @throws SettingError for an unknown name
 */
function switchedOn(config: RpcConfig, catalog: RpcUpstreamsOptions["catalog"]): ReadonlyMap<string, RpcNetwork> {
	for (const slug of Object.keys(config.networks)) {
		if (catalog.networks.has(slug) || catalog.optionalNetworks.has(slug)) continue;
		const known = [...catalog.networks.keys(), ...catalog.optionalNetworks.keys()].join(", ");
		throw new SettingError(`rpc.networks.${slug}`, `there is no such network; expected one of ${known}`);
	}
	const networks = new Map<string, RpcNetwork>();
	for (const [slug, network] of catalog.networks) if (config.networks[slug]?.enabled !== false) networks.set(slug, network);
	for (const [slug, network] of catalog.optionalNetworks) {
		const settings = config.networks[slug];
		if (settings?.enabled ?? (settings?.upstreams.length ?? 0) > 0) networks.set(slug, network);
	}
	return networks;
}

/** Returns the operator's names, or hosts if there are none. A repeated name gets a number. */
function namesOf(upstreams: readonly RpcUpstreamConfig[]): string[] {
	const used = new Set(upstreams.flatMap(({ name }) => (name === undefined ? [] : [name])));
	return upstreams.map(({ name, url }) => {
		if (name !== undefined) return name;
		const { host } = new URL(url);
		let own = host;
		for (let count = 2; used.has(own); count++) own = `${host}-${count}`;
		used.add(own);
		return own;
	});
}

/** Returns the settings of a public upstream. It is probed rarely, because it is free and belongs to others. */
function publicUpstream(url: string): RpcUpstreamConfig {
	return { url, order: 0, weight: 1, health: { failures: 3, probeEveryMs: 30_000 } };
}

function pick({ rpcMs, rpcSlowMs }: RpcTimeouts): RpcTimeouts {
	return { rpcMs, rpcSlowMs };
}

function statusOf(member: RpcMember, nowMs: number): RpcMemberStatus {
	const { health, load, state, maxConcurrent } = member;
	return {
		name: member.name,
		origin: member.origin,
		chain: state.chain,
		state: health.state,
		running: load.running,
		maxConcurrent: Number.isFinite(maxConcurrent) ? maxConcurrent : null,
		consecutiveFaults: health.faults,
		lastFault: health.lastFault,
		busy: health.isBusy(nowMs),
		isPublic: member.isPublic,
		reached: state.reached,
		counts: state.counts,
	};
}
