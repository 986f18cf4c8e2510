/** The interface of a store thread to the node's background work on the store. */
import type { StoreChange } from "../types.ts";
import type { NodeEpoch } from "./batch-applier.ts";
import type { Instant } from "./term-times.ts";

/** What background work reads of the thread, and reports to it. */
export interface MonitorHooks {
	readonly node: () => NodeEpoch;
	readonly appliedSeq: () => number;
	/** Returns how far the journal is shipped. */
	readonly shippedSeq: () => number;
	/** Called where the store has less than was shipped to it: a failover lost it. */
	readonly behind: () => void;
	readonly changes: (changes: readonly StoreChange[]) => void;
	/** Called when more of the store survives a power cut than before. */
	readonly checkpointed: () => void;
	/** Called for a heartbeat that succeeded, with the time of its sending. */
	readonly beat: (sentAt: Instant) => void;
	/** Called when all changes up to that time were read. */
	readonly fed: (at: Instant) => void;
	/** Called when the store has ended the term; no heartbeat goes out until `resume`. */
	readonly fenced: () => void;
	readonly fatal: (error: unknown) => void;
}

export interface StoreMonitor<On> {
	/** Number of live nodes, including this one. */
	readonly liveNodes: number;
	/** The sequence up to which the store survives a power cut; null where that is what is applied. */
	readonly checkpointedSeq: number | null;
	/** Resolves when changes are received from now on. Throws errors of the store. */
	start(): Promise<void>;
	/** Resumes heartbeats after a new epoch has begun. */
	resume(): void;
	stop(): Promise<void>;
	/** Reads and reports the changes up to the call. Never rejects: the next poll continues. */
	poll(): Promise<void>;
	/** Requests from the other nodes what they do not use of these accounts. */
	recall(on: On, accountIds: readonly string[]): Promise<void>;
}
