/** A node's journal in memory: what is on its disk outlives its process; it keeps the promises of the real writer and reader. */
import {
	JOURNAL_DEFAULTS,
	type JournalPosition,
	type JournalRecord,
	type ReadGroup,
	type StoreProgress,
	type WorkRefusal,
} from "../../src/journal/index.ts";
import type { JournalTail } from "../../src/store/core/journal-batches.ts";
import type { ShippedJournal } from "../../src/store/store-client.ts";
import type { ProcessTime } from "./process-time.ts";

const NOWHERE: JournalPosition = { segment: 0, offset: 0 };
/** Groups that the store has are kept for a failover. */
const KEPT_GROUPS_MS = JOURNAL_DEFAULTS.keepMs;
const SYNC_MS = 2;
const GRACE_MS = JOURNAL_DEFAULTS.graceMs;

type Group = ReadGroup & { readonly atMs: number };

export class SimulatedDisk {
	readonly groups = new Map<number, Group>();
	lastSeq = 0;

	*after(seq: number, upTo = this.lastSeq): Generator<Group> {
		for (let next = seq + 1; next <= upTo; next++) {
			const group = this.groups.get(next);
			if (group === undefined) throw new Error(`group ${next} is not in the journal`);
			yield group;
		}
	}

	/** As the store thread reads it. */
	tail(nextSeq: number): JournalTail {
		const disk = this;
		return {
			nextSeq,
			lostTail: null,
			*readTo(lastSeq) {
				for (const group of disk.after(this.nextSeq - 1, lastSeq)) {
					(this as { nextSeq: number }).nextSeq = group.seq + 1;
					yield group;
				}
			},
			*readRest() {
				yield* this.readTo(disk.lastSeq);
			},
			close() {},
		};
	}

	drop(appliedSeq: number, beforeMs: number): void {
		for (const [seq, group] of this.groups) {
			if (seq > appliedSeq || group.atMs > beforeMs) break;
			this.groups.delete(seq);
		}
	}
}

interface Waiter {
	readonly seq: number;
	readonly resolve: () => void;
	readonly promise: Promise<void>;
}

export class SimulatedJournal implements ShippedJournal {
	/** Answers that went out by the node's own disk, while the store could not be written. */
	ackedByDisk = false;
	appliedSeq: number;
	readonly #disk: SimulatedDisk;
	readonly #time: ProcessTime;
	#gathering: (Waiter & { readonly records: string[] }) | null = null;
	#waiting: Waiter[] = [];
	#syncedSeq: number;
	#failingSinceMs: number | null = null;
	#closed = false;
	#onWritten: () => void = () => {};

	constructor(disk: SimulatedDisk, time: ProcessTime, nextSeq: number) {
		this.#disk = disk;
		this.#time = time;
		disk.lastSeq = nextSeq - 1;
		this.appliedSeq = nextSeq - 1;
		this.#syncedSeq = nextSeq - 1;
	}

	get writtenSeq(): number {
		return this.#disk.lastSeq + (this.#gathering === null ? 0 : 1);
	}

	get flushedSeq(): number {
		return this.#disk.lastSeq;
	}

	get backlogBytes(): number {
		return this.flushedSeq - this.appliedSeq;
	}

	/** Records of this turn that are in no group yet: a kill loses them. */
	get gathered(): readonly string[] {
		return this.#gathering?.records ?? [];
	}

	append(record: JournalRecord): Promise<void> {
		if (this.#closed) throw new Error("the journal is closed");
		const gathering = this.#gathering ?? this.#begin();
		gathering.records.push(JSON.stringify(record));
		return gathering.promise;
	}

	flush(): void {
		const group = this.#gathering;
		if (group === null) return;
		this.#gathering = null;
		const seq = ++this.#disk.lastSeq;
		this.#disk.groups.set(seq, {
			seq,
			records: group.records,
			bytes: 1_000 * group.records.length,
			end: NOWHERE,
			atMs: this.#time.monotonicMs(),
		});
		this.#waiting.push(group);
		this.#time.after(SYNC_MS, () => {
			this.#syncedSeq = seq;
			this.#resolve();
		});
		this.#onWritten();
	}

	onWritten(listener: () => void): void {
		this.#onWritten = listener;
	}

	progress(report: StoreProgress): void {
		this.appliedSeq = Math.max(this.appliedSeq, report.appliedSeq);
		if (!report.failing) this.#failingSinceMs = null;
		else this.#failingSinceMs ??= this.#time.monotonicMs();
		this.#disk.drop(this.appliedSeq, this.#time.monotonicMs() - KEPT_GROUPS_MS);
		this.#resolve();
	}

	workRefusal(): WorkRefusal | null {
		if (this.#closed) return { reason: "closing", message: "This node is stopping", retryAfterSeconds: 5 };
		if (this.#failingSinceMs !== null && this.#time.monotonicMs() - this.#failingSinceMs > GRACE_MS) {
			return { reason: "grace", message: "The store cannot be reached", retryAfterSeconds: 5 };
		}
		return null;
	}

	close(): Promise<void> {
		this.flush();
		this.#closed = true;
		return Promise.resolve();
	}

	#begin(): Waiter & { readonly records: string[] } {
		const { promise, resolve } = Promise.withResolvers<void>();
		const gathering = { seq: this.#disk.lastSeq + 1, promise, resolve, records: [] };
		this.#gathering = gathering;
		this.#time.after(0, () => this.flush());
		return gathering;
	}

	/** Durability `store`: after the store's commit; while the store fails, after the disk's sync. */
	#resolve(): void {
		const byDisk = this.#failingSinceMs !== null;
		const durable = byDisk ? Math.max(this.#syncedSeq, this.appliedSeq) : this.appliedSeq;
		let done = 0;
		for (const waiter of this.#waiting) {
			if (waiter.seq > durable) break;
			this.ackedByDisk ||= waiter.seq > this.appliedSeq;
			waiter.resolve();
			done++;
		}
		this.#waiting.splice(0, done);
	}
}
