/**
 * Moves the write-ahead log into the database file, and knows which sequence that made safe: only then may the
 * journal use its segments again.
 */
import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import { databasePath } from "./data-folder.ts";

/** Past this size the log is checkpointed before its time: the thread's calls wait for a checkpoint, so it must be short. */
const LOG_MAX_BYTES = 4 << 20;
/** A log that once grew is cut back to this. */
const LOG_KEEP_BYTES = 64 << 20;

export class Checkpoints {
	readonly #db: Database;
	readonly #logPath: string;
	readonly #everyMs: number;
	#seq = 0;
	#dirty = true;
	#lastMs = performance.now();

	constructor(db: Database, dataDir: string, everyMs: number) {
		this.#db = db;
		this.#logPath = `${databasePath(dataDir)}-wal`;
		this.#everyMs = everyMs;
		db.run(`PRAGMA journal_size_limit = ${LOG_KEEP_BYTES}`);
	}

	/** Everything up to here stands in the database file, synced. */
	get seq(): number {
		return this.#seq;
	}

	/** Tells that something was committed. */
	wrote(): void {
		this.#dirty = true;
	}

	due(): boolean {
		if (!this.#dirty) return false;
		if (performance.now() - this.#lastMs >= this.#everyMs) return true;
		return (statSync(this.#logPath, { throwIfNoEntry: false })?.size ?? 0) > LOG_MAX_BYTES;
	}

	/** Checkpoints; true where all of the log, and with it `appliedSeq`, is safe. A long reader may hold a part back. */
	run(appliedSeq: number): boolean {
		this.#lastMs = performance.now();
		const row = this.#db.query<{ busy: bigint; log: bigint; checkpointed: bigint }, []>("PRAGMA wal_checkpoint(PASSIVE)").get();
		if (row === null || row.busy !== 0n || row.log !== row.checkpointed) return false;
		this.#seq = appliedSeq;
		this.#dirty = false;
		return true;
	}

	truncate(): void {
		this.#db.query("PRAGMA wal_checkpoint(TRUNCATE)").get();
	}
}
