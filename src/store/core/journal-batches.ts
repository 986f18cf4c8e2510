/** The journal in batches for shipping, each applied in one transaction. */
import type { JournalReader, ReadGroup } from "../../journal/index.ts";

const BATCH_BYTES = 2 << 20;

/** The part of the journal reader that the thread uses. */
export type JournalTail = Pick<JournalReader, "nextSeq" | "readTo" | "readRest" | "lostTail" | "close">;

export class JournalBatches {
	readonly tail: JournalTail;
	readonly #maxRecords: number;
	/** Groups that were read and put back. */
	#ahead: ReadGroup[] = [];

	constructor(tail: JournalTail, maxRecords: number) {
		this.tail = tail;
		this.#maxRecords = maxRecords;
	}

	/** Returns the next batch of the groups up to `seq`; empty where there are no more. */
	next(seq: number): ReadGroup[] {
		return batchesOf(this.#readTo(seq), this.#maxRecords).next().value ?? [];
	}

	/** Puts back the groups that were read last, so that they are read again. */
	putBack(groups: readonly ReadGroup[]): void {
		this.#ahead.unshift(...groups);
	}

	close(): void {
		this.tail.close();
	}

	*#readTo(seq: number): Generator<ReadGroup> {
		for (let group = this.#ahead[0]; group !== undefined && group.seq <= seq; group = this.#ahead[0]) {
			this.#ahead.shift();
			yield group;
		}
		if (this.#ahead.length === 0) yield* this.tail.readTo(seq);
	}
}

/**
 * Yields groups in batches of some size. A group is read only when its batch is requested. A fault that stops the
 * reading is thrown after the batch of what was read.
 */
export function* batchesOf(groups: Iterable<ReadGroup>, maxRecords: number): Generator<ReadGroup[], undefined> {
	let batch: ReadGroup[] = [];
	let records = 0;
	let bytes = 0;
	try {
		for (const group of groups) {
			batch.push(group);
			records += group.records.length;
			bytes += group.bytes;
			if (records < maxRecords && bytes < BATCH_BYTES) continue;
			yield batch;
			batch = [];
			records = 0;
			bytes = 0;
		}
	} catch (error) {
		if (batch.length > 0) yield batch;
		throw error;
	}
	if (batch.length > 0) yield batch;
}
