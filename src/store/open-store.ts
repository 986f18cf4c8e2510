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
import { journalFolder } from "./data-folder.ts";
import type { StorePort } from "./port.ts";
import { GuardedJournal, POSTGRES_DURABILITY, TermGuard } from "./postgres/term-guard.ts";
import { lockDataFolder } from "./sqlite/data-lock.ts";
import { StoreClient } from "./store-client.ts";
import { errorOf, StoreThreadError } from "./store-errors.ts";
import type { FromThread, OpenedReport, ThreadOptions, ToThread } from "./thread-protocol.ts";

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
	/** Called where the store thread died or found damage. The default ends the process, as for a failed journal. */
	readonly onFatal?: (error: Error) => void;
}

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
	const dir = journalFolder(options.dataDir);
	const lock = lockDataFolder(options.dataDir);
	const thread = new Worker(new URL("./thread.ts", import.meta.url).href, { smol: true, name: "store" });
	const send = (message: ToThread) => thread.postMessage(message);
	thread.addEventListener("message", ({ data }: MessageEvent<FromThread>) => {
		if (data.type === "clock") send({ type: "clock", loopMs: systemClock.monotonicMs() });
	});
	const end = () => {
		thread.terminate();
		lock.release();
	};
	try {
		makeOwnerFolder(dir);
		const report = await openThread(thread, send, threadOptions(options, dir, durability));
		const journal = await openJournal({ ...options.journal, durability, dir, start: report.start, onFatal });
		const term =
			report.beatAt === null
				? null
				: new TermGuard(termTimes(options.termMs).spendForMs, report.beatAt, new TermClock(systemClock));
		const client = new StoreClient({
			node: { id: report.start.nodeId, epoch: report.start.epoch },
			journal,
			timers: systemTimers,
			send,
			applyEveryMs: options.applyEveryMs ?? 250,
			// PostgreSQL gets a batch as soon as it is written, so that other nodes see what was spent.
			applyAtOnce: durability === "store" || term !== null,
			term,
			end,
		});
		const fail = (error: Error) => {
			client.fail(error);
			onFatal(error);
		};
		thread.onmessage = (event: MessageEvent<FromThread>) => {
			if (event.data.type === "fatal") fail(errorOf(event.data.error));
			else client.receive(event.data);
		};
		thread.onerror = (event) => fail(new StoreThreadError(event.message));
		const guarded = term === null ? journal : new GuardedJournal(journal, term);
		return { store: client, journal: guarded, replayedGroups: report.replayedGroups, lostTail: report.lostTail };
	} catch (error) {
		end();
		throw error;
	}
}

function threadOptions(options: OpenStoreOptions, journalDir: string, durability: Durability): ThreadOptions {
	return {
		dataDir: options.dataDir,
		journalDir,
		synchronous: durability === "process" ? "NORMAL" : "FULL",
		changesEveryMs: options.changesEveryMs ?? 100,
		checkpointEveryMs: options.checkpointEveryMs ?? 5_000,
		callPatienceMs: options.callPatienceMs ?? 5_000,
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

function openThread(thread: Worker, send: (message: ToThread) => void, options: ThreadOptions): Promise<OpenedReport> {
	return new Promise((resolve, reject) => {
		thread.onmessage = (event: MessageEvent<FromThread>) => {
			if (event.data.type === "opened") resolve(event.data.report);
			else if (event.data.type === "fatal") reject(errorOf(event.data.error));
		};
		thread.onerror = (event) => reject(new StoreThreadError(event.message));
		send({ type: "open", options });
	});
}
