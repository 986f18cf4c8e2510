/** Opens the store thread on SQLite: the database of a data folder and its journal. */
import type { Database } from "bun:sqlite";
import { JournalReader } from "../../journal/index.ts";
import { systemTimers } from "../../telemetry/clock.ts";
import type { AdminExecutor } from "../admin-executor.ts";
import { StoreThread } from "../core/store-thread.ts";
import type { TermClock } from "../core/term-times.ts";
import type { AdminRequest, FromThread, ThreadOptions } from "../thread-protocol.ts";
import { Checkpoints } from "./checkpoints.ts";
import { latestEpoch } from "./epochs.ts";
import { isStoreTrouble } from "./faults.ts";
import { openDatabase } from "./open-database.ts";
import { SparedAccounts } from "./spared-accounts.ts";
import { SqliteMonitor } from "./sqlite-monitor.ts";
import { sqliteStore } from "./sqlite-store.ts";
import { StoreClock } from "./store-clock.ts";

/** The posts of 250 ms at 8,000 a second: the more posts of a batch, the fewer pages a post writes. */
const BATCH_RECORDS = 2_000;
/** The pages of some ten thousand accounts exceed SQLite's default of 2 MB. A page takes memory once it is used. */
const CACHE_KIBIBYTES = 64 * 1024;

/** Opens the store, applies the rest of the journal, frees the leases of the previous boot, and begins the next boot. */
export async function openSqliteThread(
	options: ThreadOptions,
	clock: TermClock,
	send: (message: FromThread) => void,
): Promise<StoreThread<Database>> {
	const { dataDir, journalDir, synchronous, changesEveryMs, checkpointEveryMs, callPatienceMs } = options;
	// FULL until the new epoch is on the disk: otherwise a power cut could assign an epoch twice.
	const db = openDatabase(dataDir, { synchronous: "FULL" });
	db.run("PRAGMA wal_autocheckpoint = 0");
	db.run(`PRAGMA cache_size = -${CACHE_KIBIBYTES}`);
	const storeClock = new StoreClock(db);
	const nodeId = latestEpoch(db, storeClock).id;
	const checkpoints = new Checkpoints(db, checkpointEveryMs);
	const spared = new SparedAccounts();
	const admin = new LazyAdmin(dataDir, () => checkpoints.noteWrite());
	const thread = await StoreThread.open<Database>(
		{
			store: sqliteStore({
				db,
				clock: storeClock,
				written: () => checkpoints.noteWrite(),
				isSpared: (accountId) => spared.has(accountId),
			}),
			link: {
				run: (_silenceMs, work) => work(db),
				close: async () => {
					await admin.close();
					try {
						checkpoints.truncate();
					} finally {
						db.close();
					}
				},
			},
			monitor: (hooks) =>
				new SqliteMonitor({
					...hooks,
					db,
					timers: systemTimers,
					everyMs: changesEveryMs,
					checkpoints,
					spare: (accountId) => spared.add(accountId),
					isAdministering: () => admin.isRunning,
				}),
			clock,
			timers: systemTimers,
			termMs: null,
			isStoreTrouble,
			nodeId,
			dataDir,
			callPatienceMs,
			batchRecords: BATCH_RECORDS,
			journal: (nextSeq) => new JournalReader({ dir: journalDir, nodeId, nextSeq }),
			admin: (request) => admin.run(request),
			retainsAside: false,
			pause: () => new Promise((resolve) => void setImmediate(resolve)),
			checkpointedSeq: () => checkpoints.seq,
			closeAdmin: () => Promise.resolve(),
		},
		send,
	);
	db.run(`PRAGMA synchronous = ${synchronous}`);
	return thread;
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
