import {
	type Durability,
	JOURNAL_DEFAULTS,
	type Journal,
	type JournalOptions,
	type LostTail,
	openJournal,
} from "../journal/index.ts";
import { makeOwnerFolder } from "../journal/owner-only.ts";
import { systemClock, systemTimers } from "../telemetry/clock.ts";
import { TermClock, termTimes } from "./core/term-times.ts";
import { journalFolder, workerFolder } from "./data-folder.ts";
import type { StorePort } from "./port.ts";
import { GuardedJournal, POSTGRES_DURABILITY, TermGuard } from "./postgres/term-guard.ts";
import { type DataLock, lockDataFolder, lockWorkerFolder, waitForWorkers } from "./sqlite/data-lock.ts";
import { type StoreChannel, ThreadChannel } from "./store-channel.ts";
import { StoreClient } from "./store-client.ts";
import { errorOf } from "./store-errors.ts";
import type { OpenedReport, ThreadOptions, ToThread } from "./thread-protocol.ts";

export interface OpenStoreOptions {
	readonly dataDir: string;
	/** Address of the PostgreSQL store, `postgres://...`; left out: SQLite in the data folder. */
	readonly postgres?: string | undefined;
	/** PostgreSQL: how long this node's leases live after its last heartbeat. The other times are proportional to it. */
	readonly termMs?: number;
	/** PostgreSQL: how long a start waits for an unreachable store. */
	readonly startPatienceMs?: number;
	/** Overrides of `JOURNAL_DEFAULTS`: the configured durability and bounds. */
	readonly journal?: Partial<Omit<JournalOptions, "dir" | "start">>;
	/** Interval at which the journal is applied to the store. */
	readonly applyEveryMs?: number;
	/** Interval at which changes of other processes are read. */
	readonly changesEveryMs?: number;
	readonly checkpointEveryMs?: number;
	/** How long a call waits for a store that cannot be written. */
	readonly callPatienceMs?: number;
	/** Number of this process among several workers; the first, and a single process, is 0. */
	readonly worker?: number;
	/** The way to the process that owns the SQLite store; left out: this process opens the store itself. */
	readonly channel?: StoreChannel;
	/** Called where the store thread died or found damage. The default ends the process, as for a failed journal. */
	readonly onFatal?: (error: Error) => void;
}

/** Defaults of a store thread's times. */
export const STORE_TIMES = { changesEveryMs: 100, checkpointEveryMs: 5_000, callPatienceMs: 5_000 };
/** Workers apply their journals this often: what one spent, the others see soon, and a batch still holds many posts. */
const SHARED_APPLY_MS = 20;

export interface OpenedStore {
	readonly store: StorePort;
	readonly journal: Journal;
	/** Journal groups of an earlier boot that were applied at this start. */
	readonly replayedGroups: number;
	/** What a power cut lost of the journal's unsynced end; the server logs it as a warning. */
	readonly lostTail: LostTail | null;
}

/**
 * Opens the store for serving: locks the folder, applies the rest of the journal, frees the leases of the previous
 * boot, and begins a new epoch. When it resolves, the node can take work. `store.close()` closes everything,
 * including the journal.
 *
 * Throws `DataFolderError`, `DataFolderInUseError`, and `StoreThreadError` with `code` DATABASE_DAMAGED, BOOKS_LOST,
 * STORE_TOO_NEW or JOURNAL_CORRUPT; also errors of file system, SQLite and PostgreSQL.
 */
export async function openStore(options: OpenStoreOptions): Promise<OpenedStore> {
	const onFatal = options.onFatal ?? options.journal?.onFatal ?? JOURNAL_DEFAULTS.onFatal;
	const durability: Durability =
		options.journal?.durability ?? (options.postgres ? POSTGRES_DURABILITY : JOURNAL_DEFAULTS.durability);
	const dir = journalFolder(workerFolder(options.dataDir, options.worker ?? 0));
	const lock = lockFolder(options);
	const channel = options.channel ?? new ThreadChannel();
	const send = (message: ToThread) => channel.send(message);
	const end = () => {
		channel.close();
		lock.release();
	};
	try {
		makeOwnerFolder(dir);
		const report = await openThread(channel, threadOptions(options, durability));
		const journal = await openJournal({ ...options.journal, durability, dir, start: report.start, onFatal });
		const term =
			report.beatAt === null
				? null
				: new TermGuard(termTimes(options.termMs).spendForMs, report.beatAt, new TermClock(systemClock));
		const shared = term !== null || options.channel !== undefined;
		const client = new StoreClient({
			node: { id: report.start.nodeId, epoch: report.start.epoch },
			journal,
			timers: systemTimers,
			send,
			applyEveryMs: options.applyEveryMs ?? (shared ? SHARED_APPLY_MS : 250),
			// PostgreSQL gets a batch as soon as it is written, so that other nodes see what was spent.
			applyAtOnce: durability === "store" || term !== null,
			shared,
			term,
			end,
		});
		const fail = (error: Error) => {
			client.fail(error);
			onFatal(error);
		};
		channel.receive((message) => {
			if (message.type === "fatal") fail(errorOf(message.error));
			else client.receive(message);
		}, fail);
		const guarded = term === null ? journal : new GuardedJournal(journal, term);
		return { store: client, journal: guarded, replayedGroups: report.replayedGroups, lostTail: report.lostTail };
	} catch (error) {
		end();
		throw error;
	}
}

function lockFolder({ dataDir, worker = 0, channel, postgres }: OpenStoreOptions): DataLock {
	if (channel !== undefined) return lockWorkerFolder(dataDir, worker);
	const lock = lockDataFolder(dataDir);
	try {
		if (postgres === undefined) waitForWorkers(dataDir);
		return lock;
	} catch (error) {
		lock.release();
		throw error;
	}
}

/** Returns SQLite's `synchronous`: after a power cut, the journal restores what an answer did not wait for. */
export function synchronousOf(durability: Durability): ThreadOptions["synchronous"] {
	return durability === "process" ? "NORMAL" : "FULL";
}

function threadOptions(options: OpenStoreOptions, durability: Durability): ThreadOptions {
	return {
		dataDir: options.dataDir,
		synchronous: synchronousOf(durability),
		changesEveryMs: options.changesEveryMs ?? STORE_TIMES.changesEveryMs,
		checkpointEveryMs: options.checkpointEveryMs ?? STORE_TIMES.checkpointEveryMs,
		callPatienceMs: options.callPatienceMs ?? STORE_TIMES.callPatienceMs,
		postgres:
			options.postgres === undefined
				? null
				: {
						url: options.postgres,
						term: termTimes(options.termMs),
						startPatienceMs: options.startPatienceMs ?? 30_000,
					},
	};
}

function openThread(channel: StoreChannel, options: ThreadOptions): Promise<OpenedReport> {
	return new Promise((resolve, reject) => {
		channel.receive((message) => {
			if (message.type === "opened") resolve(message.report);
			else if (message.type === "fatal") reject(errorOf(message.error));
		}, reject);
		channel.send({ type: "open", options });
	});
}
