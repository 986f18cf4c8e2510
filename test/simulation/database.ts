/** The simulated database: the books, the way to them, and what can happen to both. */

import type { ChangeListener, LeaseRequest, Recall, SharedStore } from "../../src/store/core/store.ts";
import { StoreSilentError } from "../../src/store/core/store-faults.ts";
import type { Closable } from "../../src/store/postgres/store-connection.ts";
import type { ProcessTime } from "./process-time.ts";
import type { Random } from "./random.ts";
import { SimulatedStore, type SimulatedStoreOptions } from "./store.ts";
import type { World } from "./world.ts";

/** How long one way to the database takes, transactions and waits for rows included. */
export interface Latency {
	readonly leastMs: number;
	readonly meanMs: number;
	/** This part of the ways takes `slowMs` on average. */
	readonly slowShare: number;
	readonly slowMs: number;
}

export class SimulatedDatabase {
	readonly store: SimulatedStore;
	/** Trips of each kind that came to it. */
	readonly trips = { lease: 0, batch: 0, other: 0 };
	/** What the trips for leases asked. */
	readonly asked = { acquire: 0, giveBack: 0 };
	/** Notices that get lost, 0 to 1. */
	noticeLoss = 0;
	readonly #world: World;
	readonly #random: Random;
	readonly #latency: Latency;
	#up = true;
	/** Connections of before a failover are dead. */
	#generation = 0;

	constructor(world: World, random: Random, latency: Latency, options: SimulatedStoreOptions) {
		this.#world = world;
		this.#random = random;
		this.#latency = latency;
		this.store = new SimulatedStore(options);
	}

	get up(): boolean {
		return this.#up;
	}

	/** Dies with its last commits, and comes back after `downMs`. */
	failover(how: "crash" | "replica", lostMs: number, downMs: number): void {
		this.#generation++;
		this.#up = false;
		this.store.rows.failover(how, lostMs);
		this.#world.at(this.#world.nowMs + downMs, () => {
			this.#up = true;
		});
	}

	wayMs(): number {
		const { leastMs, meanMs, slowShare, slowMs } = this.#latency;
		return leastMs + this.#random.exponential(this.#random.chance(slowShare) ? slowMs : meanMs);
	}

	/**
	 * A question and its answer, each on its way for a while. What a cut-off way holds back may arrive when it is whole
	 * again, long after anybody waits for it; a node whose connection broke does not know whether its transaction was done.
	 */
	ask<T>(time: ProcessTime, network: NodeNetwork, work: (books: SimulatedStore) => T | Promise<T>): Promise<T> {
		return new Promise((resolve, reject) => {
			const generation = this.#generation;
			const answer = (settle: () => void): void => this.#travel(network, (ms) => time.after(ms, settle));
			const arrive = (): void => {
				if (!this.#up || generation !== this.#generation) {
					answer(() => reject(new StoreSilentError("the connection is refused")));
					return;
				}
				const answerWith = (settle: () => void): void =>
					answer(() => (generation === this.#generation ? settle() : reject(new StoreSilentError("the connection broke"))));
				try {
					const result = work(this.store);
					if (!(result instanceof Promise)) answerWith(() => resolve(result));
					else
						result.then(
							(value) => answerWith(() => resolve(value)),
							(error: unknown) => answerWith(() => reject(error)),
						);
				} catch (error) {
					answerWith(() => reject(error));
				}
			};
			this.#travel(network, (ms) => this.#world.at(this.#world.nowMs + ms, arrive));
		});
	}

	#travel(network: NodeNetwork, go: (ms: number) => void): void {
		if (!network.cut) go(this.wayMs());
		else if (this.#random.chance(0.5)) network.onceWhole(() => go(this.wayMs()));
	}

	/** Tells a node of notices; those that come while nothing can reach it are lost. */
	listen(time: ProcessTime, network: NodeNetwork, changed: () => void, recalled: (recall: Recall) => void): () => void {
		return this.store.onNotice((notice) => {
			if (!this.#up || network.cut || time.killed || this.#random.chance(this.noticeLoss)) return;
			time.after(this.wayMs(), () => ("changed" in notice ? changed() : recalled(notice)));
		});
	}
}

/** The way between one node and the database. */
export class NodeNetwork {
	#cut = false;
	#held: (() => void)[] = [];

	get cut(): boolean {
		return this.#cut;
	}

	break(): void {
		this.#cut = true;
	}

	heal(): void {
		this.#cut = false;
		for (const go of this.#held.splice(0)) go();
	}

	onceWhole(go: () => void): void {
		this.#held.push(go);
	}
}

/** A connection of one node to the database. */
export class SimulatedConnection implements Closable {
	readonly #database: SimulatedDatabase;
	readonly #time: ProcessTime;
	readonly #network: NodeNetwork;
	#closed = false;

	constructor(database: SimulatedDatabase, time: ProcessTime, network: NodeNetwork) {
		this.#database = database;
		this.#time = time;
		this.#network = network;
	}

	ask<T>(
		kind: keyof SimulatedDatabase["trips"],
		work: (books: SimulatedStore) => T | Promise<T>,
		leases: readonly LeaseRequest[] = [],
	): Promise<T> {
		if (this.#closed) return Promise.reject(new StoreSilentError("the connection is closed"));
		return this.#database.ask(this.#time, this.#network, (books) => {
			this.#database.trips[kind]++;
			for (const { name } of leases) this.#database.asked[name]++;
			return work(books);
		});
	}

	close(): Promise<void> {
		this.#closed = true;
		return Promise.resolve();
	}
}

/** The shared books as a store thread asks them, over the simulated way. */
export const simulatedStore: SharedStore<SimulatedConnection> = {
	latestEpoch: (on, nodeId) => on.ask("other", (books) => books.latestBoot(nodeId)),
	isKnownEpoch: (on, boot) => on.ask("other", (books) => books.knownBoot(boot)),
	startEpoch: (on, before, termMs) => on.ask("other", (books) => books.startBoot(before, termMs)),
	endEpoch: (on, node) => on.ask("other", (books) => books.endBoot(node)),
	heartbeat: (on, node, termMs) => on.ask("other", (books) => books.beat(node, termMs)),
	reap: (on, afterMs) => on.ask("other", (books) => books.reap(afterMs)),
	readKey: (on, hash, day) => on.ask("other", (books) => books.readKey(hash, day)),
	readAccount: (on, accountId) => on.ask("other", (books) => books.readAccount(accountId)),
	recallLeases: (on, nodeId, accountIds) => on.ask("other", (books) => books.askBack(nodeId, accountIds)),
	applier: (node) => ({ apply: (on, groups) => on.ask("batch", (books) => books.apply(node, groups)) }),
	leases: (node) => ({
		execute: (on, asks, liveNodes) => on.ask("lease", (books) => books.trip(node, asks, liveNodes), asks),
		budgets: (on, accountId, day) => on.ask("other", (books) => books.budgets(accountId, day)),
	}),
	// Nothing of the chain proxy is simulated.
	rpc: () => ({
		idempotency: () => Promise.reject(new Error("the simulated store keeps no answers")),
		credits: () => Promise.reject(new Error("the simulated store counts no credits")),
	}),
	changes: async (on) => {
		let seen = (await on.ask("other", (books) => books.changesAfter(0))).lastId;
		return {
			poll: async (again) => {
				const { changes, lastId } = await again.ask("other", (books) => books.changesAfter(seen));
				seen = lastId;
				return [...changes];
			},
		};
	},
};

export class SimulatedChangeListener implements ChangeListener {
	readonly #database: SimulatedDatabase;
	readonly #time: ProcessTime;
	readonly #network: NodeNetwork;
	#stop: () => void = () => {};

	constructor(database: SimulatedDatabase, time: ProcessTime, network: NodeNetwork) {
		this.#database = database;
		this.#time = time;
		this.#network = network;
	}

	listen(changed: () => void, recalled: (recall: Recall) => void): Promise<void> {
		this.#stop = this.#database.listen(this.#time, this.#network, changed, recalled);
		return Promise.resolve();
	}

	close(): Promise<void> {
		this.#stop();
		return Promise.resolve();
	}
}
