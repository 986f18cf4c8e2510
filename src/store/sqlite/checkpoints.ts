/**
 * Moves the write-ahead log into the database file, and notifies each node when all that it applied is safe there:
 * only then may its journal use its segments again.
 */
import type { Database, Statement } from "bun:sqlite";

/**
 * Past this many pages of 4 kB the log is checkpointed early. The thread's calls wait for a checkpoint, so it must be
 * short.
 */
const LOG_MAX_PAGES = 2_048;
/** A log that has grown is truncated to this size. */
const LOG_KEEP_BYTES = 64 << 20;

interface LogState {
	readonly busy: number;
	/** Pages in the log, and how many of them are in the database file. */
	readonly log: number;
	readonly checkpointed: number;
}

export class Checkpoints {
	readonly #checkpoint: Statement<LogState, []>;
	readonly #look: Statement<LogState, []>;
	readonly #truncate: Statement<LogState, []>;
	readonly #everyMs: number;
	readonly #listeners = new Set<() => void>();
	#dirty = true;
	#lastMs = performance.now();

	constructor(db: Database, everyMs: number) {
		this.#checkpoint = db.prepare<LogState, []>("PRAGMA wal_checkpoint(PASSIVE)").safeIntegers(false);
		this.#look = db.prepare<LogState, []>("PRAGMA wal_checkpoint(NOOP)").safeIntegers(false);
		this.#truncate = db.prepare<LogState, []>("PRAGMA wal_checkpoint(TRUNCATE)").safeIntegers(false);
		this.#everyMs = everyMs;
		db.run(`PRAGMA journal_size_limit = ${LOG_KEEP_BYTES}`);
	}

	/** Calls `listener` whenever everything committed so far is in the database file, synced. Returns its removal. */
	onSafe(listener: () => void): () => void {
		this.#listeners.add(listener);
		return () => this.#listeners.delete(listener);
	}

	/** Notes that something was committed. */
	noteWrite(): void {
		this.#dirty = true;
	}

	due(): boolean {
		if (!this.#dirty) return false;
		if (performance.now() - this.#lastMs >= this.#everyMs) return true;
		// The file's size says nothing: checkpointed frames are overwritten, not cut off.
		const state = this.#look.get();
		return state !== null && state.log - state.checkpointed > LOG_MAX_PAGES;
	}

	/** Writes a checkpoint. A long reader may hold a part of the log back: then no listener is called. */
	run(): void {
		this.#lastMs = performance.now();
		const state = this.#checkpoint.get();
		if (state === null || state.busy !== 0 || state.log !== state.checkpointed) return;
		this.#dirty = false;
		for (const listener of this.#listeners) listener();
	}

	truncate(): void {
		this.#truncate.get();
	}
}
