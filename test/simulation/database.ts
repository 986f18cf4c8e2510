/** The simulated database: the books, the way to them, and what can happen to both. */
import type { AcquireRequest } from "../../src/store/port.ts";
import { StoreSilentError } from "../../src/store/postgres/faults.ts";
import type { BooksEar, Recall, SharedBooks } from "../../src/store/postgres/shared-books.ts";
import type { Closable } from "../../src/store/postgres/store-connection.ts";
import { type BooksOptions, SimulatedBooks } from "./books.ts";
import type { ProcessTime } from "./process-time.ts";
import type { Random } from "./random.ts";
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
	readonly books: SimulatedBooks;
	/** Questions of each kind that came to it. */
	readonly asked = { acquire: 0, giveBack: 0, batch: 0, other: 0 };
	/** Notices that get lost, 0 to 1. */
	noticeLoss = 0;
	readonly #world: World;
	readonly #random: Random;
	readonly #latency: Latency;
	readonly #options: BooksOptions;
	#up = true;
	/** Connections of before a failover are dead. */
	#generation = 0;

	constructor(world: World, random: Random, latency: Latency, options: BooksOptions) {
		this.#world = world;
		this.#random = random;
		this.#latency = latency;
		this.#options = options;
		this.books = new SimulatedBooks(options);
	}

	/** Unix milliseconds by its clock. */
	nowMs(): number {
		return this.#options.now();
	}

	get up(): boolean {
		return this.#up;
	}

	/** Dies with its last commits, and comes back after `downMs`. */
	failover(how: "crash" | "replica", lostMs: number, downMs: number): void {
		this.#generation++;
		this.#up = false;
		this.books.rows.failover(how, lostMs);
		this.#world.at(this.#world.nowMs + downMs, () => {
			this.#up = true;
		});
	}

	wayMs(): number {
		const { leastMs, meanMs, slowShare, slowMs } = this.#latency;
		return leastMs + this.#random.exponential(this.#random.chance(slowShare) ? slowMs : meanMs);
	}

	/**
	 * A question and its answer, each on its way for a while. A node that is cut off gets no answer and no error; one whose
	 * connection broke does not know whether its transaction was done.
	 */
	ask<T>(time: ProcessTime, isCut: () => boolean, work: (books: SimulatedBooks) => T): Promise<T> {
		return new Promise((resolve, reject) => {
			if (isCut()) return;
			const generation = this.#generation;
			const answer = (settle: () => void): void => {
				if (!isCut()) time.after(this.wayMs(), settle);
			};
			this.#world.at(this.#world.nowMs + this.wayMs(), () => {
				if (isCut()) return;
				if (!this.#up || generation !== this.#generation) {
					answer(() => reject(new StoreSilentError("the connection is refused")));
					return;
				}
				let settle: () => void;
				try {
					const result = work(this.books);
					settle = () => resolve(result);
				} catch (error) {
					settle = () => reject(error);
				}
				answer(() => (generation === this.#generation ? settle() : reject(new StoreSilentError("the connection broke"))));
			});
		});
	}

	/** Tells a node of notices; those that come while nothing can reach it are lost. */
	listen(time: ProcessTime, isCut: () => boolean, changed: () => void, recalled: (recall: Recall) => void): () => void {
		return this.books.onNotice((notice) => {
			if (!this.#up || isCut() || time.killed || this.#random.chance(this.noticeLoss)) return;
			time.after(this.wayMs(), () => ("changed" in notice ? changed() : recalled(notice)));
		});
	}
}

/** A connection of one node to the database. */
export class SimulatedConnection implements Closable {
	readonly #database: SimulatedDatabase;
	readonly #time: ProcessTime;
	readonly #isCut: () => boolean;
	#closed = false;

	constructor(database: SimulatedDatabase, time: ProcessTime, isCut: () => boolean) {
		this.#database = database;
		this.#time = time;
		this.#isCut = isCut;
	}

	ask<T>(kind: keyof SimulatedDatabase["asked"], work: (books: SimulatedBooks) => T): Promise<T> {
		if (this.#closed) return Promise.reject(new StoreSilentError("the connection is closed"));
		return this.#database.ask(this.#time, this.#isCut, (books) => {
			this.#database.asked[kind]++;
			return work(books);
		});
	}

	close(): Promise<void> {
		this.#closed = true;
		return Promise.resolve();
	}
}

/** The shared books as a store thread asks them, over the simulated way. */
export const simulatedBooks: SharedBooks<SimulatedConnection> = {
	latestBoot: (on, nodeId) => on.ask("other", (books) => books.latestBoot(nodeId)),
	knownBoot: (on, boot) => on.ask("other", (books) => books.knownBoot(boot)),
	startBoot: (on, before, termMs) => on.ask("other", (books) => books.startBoot(before, termMs)),
	endBoot: (on, node) => on.ask("other", (books) => books.endBoot(node)),
	beat: (on, node, termMs) => on.ask("other", (books) => books.beat(node, termMs)),
	reap: (on, afterMs) => on.ask("other", (books) => books.reap(afterMs)),
	readKey: (on, hash) => on.ask("other", (books) => books.readKey(hash)),
	readAccount: (on, accountId) => on.ask("other", (books) => books.readAccount(accountId)),
	askBack: (on, nodeId, accountId) => on.ask("other", (books) => books.askBack(nodeId, accountId)),
	applier: (node) => ({ apply: (on, groups) => on.ask("batch", (books) => books.apply(node, groups)) }),
	leases: (node) => ({
		acquire: (on, request: AcquireRequest, liveNodes) => on.ask("acquire", (books) => books.acquire(node, request, liveNodes)),
		budgets: (on, accountId, day) => on.ask("other", (books) => books.budgets(accountId, day)),
		giveBack: (on, accountId, kept) => on.ask("giveBack", (books) => books.giveBack(node, accountId, kept)),
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

export class SimulatedEar implements BooksEar {
	readonly #database: SimulatedDatabase;
	readonly #time: ProcessTime;
	readonly #isCut: () => boolean;
	#stop: () => void = () => {};

	constructor(database: SimulatedDatabase, time: ProcessTime, isCut: () => boolean) {
		this.#database = database;
		this.#time = time;
		this.#isCut = isCut;
	}

	listen(changed: () => void, recalled: (recall: Recall) => void): Promise<void> {
		this.#stop = this.#database.listen(this.#time, this.#isCut, changed, recalled);
		return Promise.resolve();
	}

	close(): Promise<void> {
		this.#stop();
		return Promise.resolve();
	}
}
