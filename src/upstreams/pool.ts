import type { ModelTarget } from "../catalog/types.ts";
import type { UpstreamConfig } from "../config/schema.ts";
import type { Requester } from "../fairness/index.ts";
import type { TimerClock } from "../telemetry/timer-clock.ts";
import type { UpstreamFailure } from "./failures.ts";
import { HealthMonitor } from "./health-monitor.ts";
import {
	configuredServer,
	type UpstreamServer,
	type UpstreamStatus,
	upstreamSecrets,
	upstreamStatus,
} from "./upstream-server.ts";

/** One way to run a call: an upstream and its own name for the model. */
export interface Candidate {
	readonly server: UpstreamServer;
	readonly model: string;
	readonly target: ModelTarget;
}

/** Probes an upstream; returns true if it answers. Never throws. */
export type Probe = (server: UpstreamServer) => Promise<boolean>;

export interface PoolOptions {
	readonly upstreams: Readonly<Record<string, UpstreamConfig>>;
	readonly embedded?: UpstreamServer;
	readonly clock: TimerClock;
	readonly probe: Probe;
	/** Called when an upstream is ejected and when it returns. */
	readonly onChange: (server: UpstreamServer) => void;
	readonly random?: () => number;
}

/**
 * The upstreams and their health: which is tried first, which is left out, how many calls each runs at once. An ejected
 * candidate is left out only while another of the same model is not: never all at once.
 */
export class Pool {
	readonly #options: PoolOptions;
	readonly #random: () => number;
	#servers = new Map<string, UpstreamServer>();
	#configs: Readonly<Record<string, UpstreamConfig>> = {};
	readonly #monitor: HealthMonitor<UpstreamServer>;

	constructor(options: PoolOptions) {
		this.#options = options;
		this.#random = options.random ?? Math.random;
		this.#monitor = new HealthMonitor({ ...options, isCurrent: (server) => this.#servers.get(server.name) === server });
		this.replace(options.upstreams);
	}

	/**
	 * Replaces the settings. Running calls keep their server; an upstream with the same address and key keeps its health
	 * and counts.
	 */
	replace(upstreams: Readonly<Record<string, UpstreamConfig>>): void {
		const servers = new Map<string, UpstreamServer>();
		const secrets = Object.values(upstreams).flatMap(upstreamSecrets);
		const sameSecrets = Bun.deepEquals(secrets, Object.values(this.#configs).flatMap(upstreamSecrets));
		for (const [name, config] of Object.entries(upstreams)) {
			const [before, old] = [this.#configs[name], this.#servers.get(name)];
			const same = before && old && sameSecrets && JSON.stringify(before) === JSON.stringify(config);
			const sameServer = before && old && serverOf(before) === serverOf(config);
			servers.set(name, same ? old : configuredServer(name, config, secrets, sameServer ? old : undefined));
		}
		if (this.#options.embedded) servers.set(this.#options.embedded.name, this.#options.embedded);
		this.#servers = servers;
		this.#configs = upstreams;
		this.#monitor.retainOnly();
		for (const server of servers.values()) this.#monitor.startProbing(server);
	}

	/**
	 * Returns the candidates of a model in the order in which to try them: those that can take work now before those that
	 * requested a pause, lower `order` first, by weight among equals. With a sticky key equals keep the same order for
	 * the same key (rendezvous hashing), so that prompt caches are reused.
	 */
	candidates(targets: readonly ModelTarget[], stickyKey?: string): Candidate[] {
		if (targets.length === 1 && targets[0] !== undefined) return this.#only(targets[0]);
		const nowMs = this.#options.clock.monotonicMs();
		const known = targets.flatMap((target) => {
			const server = this.#servers.get(target.upstream);
			return server ? [{ server, model: target.model, target, order: target.order, place: this.#place(target, stickyKey) }] : [];
		});
		const busy = (server: UpstreamServer) => Number(server.health.isBusy(nowMs));
		known.sort((a, b) => busy(a.server) - busy(b.server) || a.order - b.order || a.place - b.place);
		const usable = known.filter(({ server }) => isUsable(server));
		return usable.length > 0 ? usable : known;
	}

	/** Returns the only target, whatever its health. */
	#only(target: ModelTarget): Candidate[] {
		const server = this.#servers.get(target.upstream);
		return server ? [{ server, model: target.model, target }] : [];
	}

	/**
	 * Returns a sort key: an exponential draw divided by the weight. Sorting by it draws without replacement by weight.
	 */
	#place(target: ModelTarget, stickyKey: string | undefined): number {
		const uniform = stickyKey === undefined ? this.#random() : hashToUnit(`${stickyKey}\n${target.upstream}\n${target.model}`);
		return -Math.log(1 - uniform) / target.weight;
	}

	/**
	 * Takes a place among the calls that the upstream runs at once; null if none is free for the tenant. Call the
	 * returned function once to release it.
	 */
	take(server: UpstreamServer, tenant: string): (() => void) | null {
		return this.#monitor.take(server, tenant);
	}

	/** Waits a while for such a place, in turns between tenants; null if none is free in time. */
	wait(server: UpstreamServer, requester: Requester): Promise<(() => void) | null> {
		return this.#monitor.wait(server, requester);
	}

	/** Records a success. */
	reportSuccess(server: UpstreamServer): void {
		this.#monitor.reportSuccess(server);
	}

	reportFailure(server: UpstreamServer, { kind, message, isFault, refusesAccount, retryAfterSeconds }: UpstreamFailure): void {
		if (refusesAccount) server.health.accountRefused(message, this.#options.clock.monotonicMs());
		const busySeconds = kind === "busy" ? (retryAfterSeconds ?? 1) : null;
		this.#monitor.reportFailure(server, { message, isFault: isFault && server.ejectable, busySeconds });
	}

	/** Probes an upstream; returns null if there is none of that name, or it is the engine in this server. */
	async probeNow(name: string): Promise<boolean | null> {
		const server = this.#servers.get(name);
		return server?.ejectable === true ? this.#monitor.probeNow(server) : null;
	}

	/** Returns the state of the upstreams for status pages, in the order of the configuration. */
	snapshot(): UpstreamStatus[] {
		return [...this.#servers.values()].map((server) =>
			upstreamStatus(server, this.#configs[server.name]?.url ?? null, this.#options.clock),
		);
	}

	close(): void {
		this.#monitor.close();
	}
}

/** Returns an upstream's address and our credentials there, as a text to compare. */
function serverOf({ url, key, provider, options }: UpstreamConfig): string {
	return JSON.stringify([url, key, provider, options]);
}

function isUsable(server: UpstreamServer): boolean {
	const { state } = server.health;
	return state === "up" || (state === "trial" && server.load.running === 0);
}

/** Hashes a text to a number in [0, 1): FNV-1a with a final mix. */
function hashToUnit(text: string): number {
	let hash = 0x811c9dc5;
	for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
	hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
	hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
	return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
