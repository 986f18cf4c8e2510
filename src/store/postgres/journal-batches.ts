/** The journal as it is shipped: in batches, each booked in one transaction. */
import type { JournalReader, ReadGroup } from "../../journal/index.ts";

const BATCH_RECORDS = 1_000;
const BATCH_BYTES = 2 << 20;

/** The journal as the thread reads it. */
export type JournalTail = Pick<JournalReader, "nextSeq" | "readTo" | "readRest" | "lostTail" | "close">;

export class JournalBatches {
	readonly tail: JournalTail;
	/** Read, and put back. */
	#ahead: ReadGroup[] = [];

	constructor(tail: JournalTail) {
		this.tail = tail;
	}

	/** The next batch of what stands up to `seq`; empty where there is nothing more. */
	next(seq: number): ReadGroup[] {
		return batchesOf(this.#readTo(seq)).next().value ?? [];
	}

	/** What was read last, to be read again. */
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
 * Groups in batches of some size. No group is taken before the batch that it is in is asked for. What stops the reading
 * is thrown behind the batch of what was read.
 */
export function* batchesOf(groups: Iterable<ReadGroup>): Generator<ReadGroup[], undefined> {
	let batch: ReadGroup[] = [];
	let records = 0;
	let bytes = 0;
	try {
		for (const group of groups) {
			batch.push(group);
			records += group.records.length;
			bytes += group.bytes;
			if (records < BATCH_RECORDS && bytes < BATCH_BYTES) continue;
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
