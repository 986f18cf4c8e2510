/**
 * Hosts a SQLite store: owns the database of a data folder, and runs a store thread for each node that uses it. The
 * one process of a server is its only node. With several workers, each is a node, and their store threads take turns.
 */
import type { Database } from "bun:sqlite";
import { JournalReader } from "../../journal/index.ts";
import { systemClock, systemTimers } from "../../telemetry/clock.ts";
import type { AdminExecutor } from "../admin-executor.ts";
import { MinuteWindows } from "../core/minute-windows.ts";
import { RecallLimit } from "../core/recall-limit.ts";
import type { MinuteExchanger, Store } from "../core/store.ts";
import { applyRest, StoreThread } from "../core/store-thread.ts";
import type { StoreThreadDeps } from "../core/store-thread-deps.ts";
import { TermClock } from "../core/term-times.ts";
import { journalFolder, workerFolder, workerNumbers } from "../data-folder.ts";
import type { AdminRequest, FromThread, ThreadOptions } from "../thread-protocol.ts";
import { Checkpoints } from "./checkpoints.ts";
import { nodeIdOf } from "./epochs.ts";
import { isStoreTrouble } from "./faults.ts";
import { openDatabase } from "./open-database.ts";
import { RunningClaims } from "./running-claims.ts";
import { SparedAccounts } from "./spared-accounts.ts";
import { SqliteMonitor } from "./sqlite-monitor.ts";
import { sqliteStore } from "./sqlite-store.ts";
import { StoreClock } from "./store-clock.ts";

/** The posts of 250 ms at 8,000 a second: the more posts of a batch, the fewer pages a post writes. */
const BATCH_RECORDS = 2_000;
/** The pages of some ten thousand accounts exceed SQLite's default of 2 MB. A page takes memory once it is used. */
const CACHE_KIBIBYTES = 64 * 1024;

export interface HostOptions extends Omit<ThreadOptions, "postgres"> {
	/** True where several workers use the store: each gets parts of what is free. */
	readonly shared: boolean;
}

export class SqliteHost {
	readonly #options: HostOptions;
	readonly #db: Database;
	readonly #checkpoints: Checkpoints;
	readonly #spared = new SparedAccounts();
	readonly #admin: LazyAdmin;
	readonly #minutes = new MinuteWindows(() => systemClock.wallMs());
	readonly #store: Store<Database>;
	readonly #recallLimit = new RecallLimit(systemClock);
	/** The monitor of each connected node, by the node's id. */
	readonly #monitors = new Map<string, SqliteMonitor>();
	#turn: Promise<unknown> = Promise.resolve();

	private constructor(options: HostOptions) {
		const { dataDir, checkpointEveryMs } = options;
		this.#options = options;
		this.#db = openDatabase(dataDir, { synchronous: "FULL" });
		this.#db.run("PRAGMA wal_autocheckpoint = 0");
		this.#db.run(`PRAGMA cache_size = -${CACHE_KIBIBYTES}`);
		this.#checkpoints = new Checkpoints(this.#db, checkpointEveryMs);
		this.#admin = new LazyAdmin(dataDir, () => this.#checkpoints.noteWrite());
		this.#store = sqliteStore({
			db: this.#db,
			clock: new StoreClock(this.#db),
			written: () => this.#checkpoints.noteWrite(),
			rule: options.shared ? { shared: true } : { shared: false, isSpared: (accountId) => this.#spared.has(accountId) },
			running: options.shared ? new RunningClaims() : null,
		});
	}

	/**
	 * Opens the database, and applies what workers left in their journals that do not run any more. Throws errors of
	 * SQLite, and of the journal.
	 * @param workers number of the server's processes that will connect
	 */
	static async open(options: HostOptions, workers: number): Promise<SqliteHost> {
		const host = new SqliteHost(options);
		try {
			for (const worker of workerNumbers(options.dataDir)) if (worker >= workers) await host.end(worker);
			return host;
		} catch (error) {
			await host.close();
			throw error;
		}
	}

	/**
	 * Opens the store thread of a worker (0: the only one, or the first): applies the rest of its journal, frees the
	 * leases of its previous boot, and begins the next.
	 */
	async connect(worker: number, send: (message: FromThread) => void): Promise<StoreThread<Database>> {
		// FULL until the new epoch is on the disk: otherwise a power cut could assign it twice.
		await this.#setSynchronous("FULL");
		const deps = this.#deps(worker);
		try {
			return await StoreThread.open<Database>(deps, send);
		} catch (error) {
			this.#monitors.delete(deps.nodeId);
			throw error;
		} finally {
			await this.#setSynchronous(this.#options.synchronous);
		}
	}

	/** Applies the rest of a journal whose process has ended, and frees its leases. */
	async end(worker: number): Promise<void> {
		await applyRest(this.#deps(worker));
	}

	async close(): Promise<void> {
		await this.#admin.close();
		try {
			this.#checkpoints.truncate();
		} finally {
			this.#db.close();
		}
	}

	#deps(worker: number): StoreThreadDeps<Database> {
		const { dataDir, callPatienceMs, shared } = this.#options;
		const db = this.#db;
		const nodeId = nodeIdOf(db, worker);
		const journalDir = journalFolder(workerFolder(dataDir, worker));
		return {
			store: this.#store,
			link: {
				run: (_silenceMs, work) => (shared ? this.#inTurn(() => work(db)) : work(db)),
				close: async () => {
					this.#monitors.delete(nodeId);
					if (!shared) await this.close();
				},
			},
			monitor: (hooks) => {
				const monitor = new SqliteMonitor({
					...hooks,
					db,
					timers: systemTimers,
					everyMs: this.#options.changesEveryMs,
					checkpoints: this.#checkpoints,
					spare: (accountId) => this.#spared.add(accountId),
					isAdministering: () => this.#admin.isRunning,
					liveNodes: () => this.#monitors.size,
					recall: (accountIds) => this.#recall(nodeId, accountIds),
				});
				this.#monitors.set(nodeId, monitor);
				return monitor;
			},
			clock: new TermClock(systemClock),
			timers: systemTimers,
			termMs: null,
			isStoreTrouble,
			nodeId,
			dataDir,
			callPatienceMs,
			batchRecords: BATCH_RECORDS,
			journal: (nextSeq) => new JournalReader({ dir: journalDir, nodeId, nextSeq }),
			admin: (request) => this.#admin.run(request),
			retainsAside: false,
			pause: () => new Promise((resolve) => void setImmediate(resolve)),
			...(shared ? { minutes: this.#minuteExchanger() } : {}),
			closeAdmin: () => Promise.resolve(),
		};
	}

	#minuteExchanger(): MinuteExchanger {
		return {
			exchange: async (exchange) => this.#minutes.exchange(exchange, Math.max(1, this.#monitors.size)),
			close: () => Promise.resolve(),
		};
	}

	#setSynchronous(mode: HostOptions["synchronous"]): Promise<void> {
		return this.#inTurn(async () => void this.#db.run(`PRAGMA synchronous = ${mode}`));
	}

	/** Runs the work of one store thread at a time: all use one connection, and an operation waits between statements. */
	#inTurn<T>(work: () => Promise<T>): Promise<T> {
		const turn = this.#turn.then(work);
		this.#turn = turn.catch(() => {});
		return turn;
	}

	/** Notifies the other nodes that one needs money of these accounts back. */
	#recall(nodeId: string, accountIds: readonly string[]): void {
		const due = this.#recallLimit.take(accountIds);
		for (const [other, monitor] of this.#monitors) if (other !== nodeId) monitor.recalled(due);
	}
}

/** Operator's operations; their module is loaded at its first use, as most nodes administer nothing for a long time. */
class LazyAdmin {
	readonly #dataDir: string;
	readonly #written: () => void;
	#executor: AdminExecutor | null = null;
	isRunning = false;

	constructor(dataDir: string, written: () => void) {
		this.#dataDir = dataDir;
		this.#written = written;
	}

	async run({ operation, input }: AdminRequest): Promise<unknown> {
		if (this.#executor === null) {
			const { AdminExecutor } = await import("../admin-executor.ts");
			this.#executor = await AdminExecutor.open(this.#dataDir);
		}
		this.isRunning = true;
		try {
			return await this.#executor.run(operation, input);
		} finally {
			this.isRunning = false;
			this.#written();
		}
	}

	async close(): Promise<void> {
		await this.#executor?.close();
	}
}
