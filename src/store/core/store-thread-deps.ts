import type { Timers } from "../../telemetry/clock.ts";
import type { AdminRequest } from "../thread-protocol.ts";
import type { JournalTail } from "./journal-batches.ts";
import type { MinuteExchanger, Store, StoreLink } from "./store.ts";
import type { MonitorHooks, StoreMonitor } from "./store-monitor.ts";
import type { TermClock } from "./term-times.ts";

/** The dependencies and settings of the thread. */
export interface StoreThreadDeps<On> {
	readonly store: Store<On>;
	/** Connection for the journal's batches and the calls of the event loop. */
	readonly link: StoreLink<On>;
	/** Returns the background work of the node. */
	readonly monitor: (hooks: MonitorHooks) => StoreMonitor<On>;
	readonly clock: TermClock;
	readonly timers: Timers;
	/** How long the store keeps the node's leases without a heartbeat; null: they do not expire. */
	readonly termMs: number | null;
	/** Returns true for trouble that may pass by itself: the work is tried again. */
	readonly isStoreTrouble: (error: unknown) => boolean;
	/** The node's id in these books. */
	readonly nodeId: string;
	/** Folder named in messages. */
	readonly dataDir: string;
	/** How long a call waits for a store that cannot be written. */
	readonly callPatienceMs: number;
	/** Most records of a batch: few enough that others wait only briefly for its locks. */
	readonly batchRecords: number;
	/** Returns the node's journal from `nextSeq` on. */
	readonly journal: (nextSeq: number) => JournalTail;
	/** Runs an operation of `admin/operations.ts`. */
	readonly admin: (request: AdminRequest) => Promise<unknown>;
	/** True where old rows may move to archives beside the other work, over a connection that waits for no other. */
	readonly retainsAside: boolean;
	/**
	 * Lets messages and timers come between two batches, and before a call that others may join; left out where the work
	 * itself waits for a server.
	 */
	readonly pause?: () => Promise<void>;
	/** Minute windows, exchanged in parallel to everything else; left out where nodes count alone. */
	readonly minutes?: MinuteExchanger;
	readonly closeAdmin: () => Promise<void>;
}
