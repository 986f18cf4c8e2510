/** One server of many: the real budgets, lease queues, term guard, store client and store thread, on simulated time, journal and books. */
import type { CachedKey } from "../../src/budgets/cached-key.ts";
import { createBudgets, type Hold, type NodeBudgets } from "../../src/budgets/index.ts";
import { ApiError } from "../../src/errors/index.ts";
import { nano, pico } from "../../src/ledger/nano.ts";
import { StoreThread } from "../../src/store/core/store-thread.ts";
import { TermClock, termTimes } from "../../src/store/core/term-times.ts";
import type { StorePort } from "../../src/store/port.ts";
import { isStoreTrouble } from "../../src/store/postgres/faults.ts";
import { type Servers, StoreConnection } from "../../src/store/postgres/store-connection.ts";
import { PostgresMonitor } from "../../src/store/postgres/store-monitor.ts";
import { GuardedJournal, TermGuard } from "../../src/store/postgres/term-guard.ts";
import { StoreClient } from "../../src/store/store-client.ts";
import type { FromThread, OpenedReport, WorkMessage } from "../../src/store/thread-protocol.ts";
import { sleep } from "../../src/telemetry/clock.ts";
import { NodeNetwork, SimulatedChangeListener, SimulatedConnection, type SimulatedDatabase, simulatedStore } from "./database.ts";
import { SimulatedDisk, SimulatedJournal } from "./journal.ts";
import { ProcessTime } from "./process-time.ts";
import type { World } from "./world.ts";

/** A simulated database has one address, behind which it fails over. */
const ONE_SERVER: Servers = { find: () => Promise.resolve(""), lost: () => {}, onMoved: () => {} };

/** One request: what it may cost, what it does cost (null: it fails and costs nothing), and how long its work takes. */
export interface SimulatedRequest {
	readonly number: number;
	readonly accountId: string;
	readonly hash: string;
	readonly worst: number;
	readonly price: number | null;
	readonly workMs: number;
}

/** What the node tells of its requests. */
export interface NodeWitness {
	held(node: SimulatedNode, request: SimulatedRequest): void;
	/** @param day UTC day of its admission */
	refused(node: SimulatedNode, request: SimulatedRequest, error: ApiError, day: number): void;
	posted(node: SimulatedNode, request: SimulatedRequest, overrun: number): void;
	answered(node: SimulatedNode, request: SimulatedRequest): void;
	/** A post that no disk has: its process was killed in the same turn, or lost its disk. */
	lost(disk: SimulatedDisk, unwritten: readonly string[]): void;
}

export interface SimulatedNodeDeps {
	readonly world: World;
	readonly database: SimulatedDatabase;
	readonly witness: NodeWitness;
	/** Unix milliseconds at the run's begin, by this machine. */
	readonly wallMs: number;
	readonly termMs: number;
	readonly maxCallers: number;
	/** Rules left out on purpose, to see that they are missed. */
	readonly broken: ReadonlySet<NodeMutation>;
}

export type NodeMutation = "term guard" | "recall";

/** The way of a message between the event loop and the store thread. */
const HOP_MS = 0.05;
const APPLY_EVERY_MS = 250;
const CALL_PATIENCE_MS = 5_000;
const START_RETRY_MS = 100;
/** Accounts whose last use on this node is remembered. */
const MAX_USES = 1_000;
const DAY_MS = 86_400_000;

interface Process {
	readonly time: ProcessTime;
	readonly journal: SimulatedJournal;
	readonly client: StoreClient;
	readonly budgets: NodeBudgets;
}

export class SimulatedNode {
	readonly index: number;
	readonly network = new NodeNetwork();
	/** What its open holds secure, by account. */
	readonly open = new Map<string, number>();
	/** The accounts it used last, with the instant. */
	readonly uses = new Map<string, { key: CachedKey; atMs: number }>();
	disk = new SimulatedDisk();
	readonly #parts: SimulatedNodeDeps;
	#disks = 1;
	#time: ProcessTime | null = null;
	#process: Process | null = null;

	constructor(index: number, parts: SimulatedNodeDeps) {
		this.index = index;
		this.#parts = parts;
	}

	/** Its id in the store: a new data folder is a new node. */
	get id(): string {
		return `node${this.index}-${this.#disks}`;
	}

	get epoch(): number {
		return this.#process?.client.node.epoch ?? 0;
	}

	/** Takes requests. */
	get serving(): boolean {
		return this.#process?.time.running === true;
	}

	get alive(): boolean {
		return this.#time !== null;
	}

	get journal(): SimulatedJournal | null {
		return this.#process?.journal ?? null;
	}

	/** Starts its process. */
	start(): void {
		const time = new ProcessTime(this.#parts.world, this.#parts.wallMs);
		this.#time = time;
		this.#boot(time).catch((error: unknown) => {
			if (!time.killed) this.#parts.world.fail(error);
		});
	}

	get asleep(): boolean {
		return this.#time?.asleep === true;
	}

	/** @param asleep its monotonic clock stands still meanwhile */
	pause(asleep: boolean): void {
		this.#time?.pause(asleep);
	}

	resume(): void {
		this.#time?.resume();
	}

	stepWall(byMs: number): void {
		this.#time?.stepWall(byMs);
	}

	/** kill -9, with its data folder or without. */
	kill(keepDisk: boolean): void {
		const unwritten = this.#process?.journal.gathered ?? [];
		this.#time?.kill();
		this.#time = null;
		this.#process = null;
		this.open.clear();
		this.uses.clear();
		if (keepDisk) {
			if (unwritten.length > 0) this.#parts.witness.lost(new SimulatedDisk(), unwritten);
			return;
		}
		this.#parts.witness.lost(this.disk, unwritten);
		this.disk = new SimulatedDisk();
		this.#disks++;
	}

	/** Ends in order: posts booked, leases returned. */
	async stop(): Promise<void> {
		const process = this.#process;
		if (process === null) return;
		process.budgets.close();
		await process.client.close();
		process.time.kill();
		this.#time = null;
		this.#process = null;
	}

	/** Serves one request from its admission to its answer. */
	async serve(request: SimulatedRequest): Promise<void> {
		const process = this.#process;
		if (process === null) return;
		const { world, witness } = this.#parts;
		const admittedAtMs = process.time.wallMs();
		try {
			const found = process.budgets.caller(request.hash);
			const caller = found instanceof Promise ? await found : found;
			if (caller === null) throw new Error(`no caller ${request.hash}`);
			this.#used(request.accountId, caller as CachedKey);
			const context = {
				requestId: `req${request.number}`,
				route: "chat",
				model: "model",
				admittedAtMs,
			};
			const held = process.budgets.hold(caller, context, nano(request.worst));
			const hold: Hold = held instanceof Promise ? await held : held;
			witness.held(this, request);
			this.#secure(request.accountId, request.worst);
			await sleep(process.time, request.workMs);
			this.#used(request.accountId, caller as CachedKey);
			this.#secure(request.accountId, -request.worst);
			if (request.price === null) {
				hold.void();
				return;
			}
			const lines = [{ sku: "sku", units: request.price, picoPrice: pico(1_000) }];
			const posted = hold.post({ lines, usage: null, status: 200, upstream: "upstream" });
			if (posted === null) throw new Error("an open hold was not posted");
			witness.posted(this, request, posted.overrun);
			await posted.durable;
			witness.answered(this, request);
		} catch (error) {
			if (error instanceof ApiError) witness.refused(this, request, error, Math.floor(admittedAtMs / DAY_MS));
			else if (!process.time.killed) world.fail(error);
		}
	}

	#used(accountId: string, key: CachedKey): void {
		this.uses.delete(accountId);
		this.uses.set(accountId, { key, atMs: this.#parts.world.nowMs });
		if (this.uses.size <= MAX_USES) return;
		for (const oldest of this.uses.keys()) {
			this.uses.delete(oldest);
			break;
		}
	}

	#secure(accountId: string, by: number): void {
		const secured = (this.open.get(accountId) ?? 0) + by;
		if (secured === 0) this.open.delete(accountId);
		else this.open.set(accountId, secured);
	}

	async #boot(time: ProcessTime): Promise<void> {
		const { database, termMs } = this.#parts;
		const { network } = this;
		const link = () =>
			new StoreConnection<SimulatedConnection>(() => new SimulatedConnection(database, time, network), time, ONE_SERVER);
		const ear = new SimulatedChangeListener(database, time, network);
		const loop: { client: StoreClient | null; report: OpenedReport | null } = { client: null, report: null };
		const send = (message: FromThread): void => {
			time.after(HOP_MS, () => {
				if (message.type === "opened") loop.report = message.report;
				else if (message.type === "fatal")
					this.#parts.world.fail(new Error(`${this.id}: ${message.error.name}: ${message.error.message}`));
				else loop.client?.receive(this.#heard(message));
			});
		};
		const disk = this.disk;
		const clock = new TermClock(time);
		let thread: StoreThread<SimulatedConnection> | null = null;
		while (thread === null) {
			try {
				thread = await StoreThread.open(
					{
						store: simulatedStore,
						link: link(),
						monitor: (hooks) =>
							new PostgresMonitor({
								...hooks,
								sharedStore: simulatedStore,
								link: link(),
								changeListener: ear,
								clock,
								timers: time,
								times: termTimes(termMs),
							}),
						clock,
						timers: time,
						termMs,
						isStoreTrouble,
						retainsAside: true,
						nodeId: this.id,
						dataDir: this.id,
						callPatienceMs: CALL_PATIENCE_MS,
						batchRecords: 1_000,
						journal: (nextSeq) => disk.tail(nextSeq),
						admin: () => Promise.reject(new Error("the simulated store has no operator's side")),
						closeAdmin: () => Promise.resolve(),
					},
					send,
				);
			} catch (error) {
				if (!isStoreTrouble(error)) throw error;
				await ear.close();
				await sleep(time, START_RETRY_MS);
			}
		}
		const opened = thread;
		await sleep(time, HOP_MS);
		const report = loop.report;
		if (report === null || report.beatAt === null) throw new Error("the thread did not tell that it is open");
		const journal = new SimulatedJournal(disk, time, report.start.nextSeq);
		const term = this.#guard(termTimes(termMs).spendForMs, report.beatAt, new TermClock(time));
		const client = new StoreClient({
			node: { id: report.start.nodeId, epoch: report.start.epoch },
			journal,
			timers: time,
			send: (message) => void time.after(HOP_MS, () => opened.receive(message as WorkMessage)),
			applyEveryMs: APPLY_EVERY_MS,
			applyAtOnce: true,
			shared: true,
			term,
			end: () => {},
		});
		loop.client = client;
		const store: StorePort = client;
		const budgets = createBudgets({
			store,
			journal: new GuardedJournal(journal, term),
			clock: time,
			timers: time,
			failedRequests: () => 0,
			maxCallers: this.#parts.maxCallers,
		});
		this.#process = { time, journal, client, budgets };
	}

	#guard(spendForMs: number, beatAt: OpenedReport["beatAt"] & object, clock: TermClock): TermGuard {
		const guard = new TermGuard(spendForMs, beatAt, clock);
		if (this.#parts.broken.has("term guard")) guard.check = () => null;
		return guard;
	}

	/** What the loop hears of its thread: all of it, but for a rule that is left out. */
	#heard(message: FromThread): FromThread {
		if (!this.#parts.broken.has("recall") || message.type !== "changes") return message;
		return { type: "changes", changes: message.changes.filter(({ kind }) => kind !== "recall") };
	}
}
