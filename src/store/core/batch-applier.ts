/**
 * Applies journal groups: one transaction per batch, which includes the sequence that it reaches, so that no batch is
 * applied twice even after a broken connection.
 */
import type { ReadGroup } from "../../journal/index.ts";
import { type BatchPlan, planBatch } from "./batch-plan.ts";
import type { BatchState } from "./batch-state.ts";
import { type AllotmentDay, type BatchNeeds, Entry, needsOf } from "./entries.ts";

/** One boot of a node. */
export interface NodeEpoch {
	readonly id: string;
	readonly epoch: number;
}

/** Thrown for a batch that does not continue the applied sequence: a fault of the caller, never of a record. */
export class SequenceError extends Error {
	override readonly name = "SequenceError";
}

/** The rows of a batch, read under lock. */
export interface LockedBatch {
	/** The last applied sequence of the node; null where the store does not know this boot. */
	readonly appliedSeq: number | null;
	readonly state: BatchState;
	/** Unix milliseconds by the store's clock. */
	readonly nowMs: number;
}

/** What a batch adds to the node's row. */
export interface BatchCounts {
	readonly groups: number;
	readonly posts: number;
	readonly rejects: number;
}

/** The rows of a store inside the transaction of one batch. */
export interface BatchTransaction {
	/** Reads and locks. */
	lock(needs: BatchNeeds): Promise<LockedBatch>;
	/** Writes the missing allotments of these days. */
	writeAllotments(days: readonly AllotmentDay[]): Promise<void>;
	write(plan: BatchPlan, postedAtMs: number): Promise<void>;
	reject(entry: Entry, error: string, rejectedAtMs: number): Promise<void>;
	advance(appliedSeq: number, counts: BatchCounts): Promise<void>;
	/** Keeps all of what `work` writes, or nothing where it throws; the transaction goes on. */
	savepoint<T>(work: () => Promise<T>): Promise<T>;
}

/** A store to which batches of one node are applied. `On` is what a call runs on. */
export interface BatchStore<On> {
	transaction<T>(on: On, work: (tx: BatchTransaction) => Promise<T>): Promise<T>;
	/**
	 * Returns true where a record is at fault, false where the store is (disk full, down, damaged): then the whole batch
	 * is tried again. An unforeseen error counts as a record's fault, so that it can never hold up the others.
	 */
	isRecordFault(error: unknown): boolean;
}

export class BatchApplier<On> {
	readonly #store: BatchStore<On>;
	#lastPostingMs = 0;

	constructor(store: BatchStore<On>) {
		this.#store = store;
	}

	/**
	 * Applies the groups that are not applied yet, in one transaction, and returns the applied sequence. A record that
	 * the books refuse is isolated in `rejected`. Throws the store's errors: then nothing of the batch is applied, or
	 * all of it where a connection broke, and the next call finds out. Throws `SequenceError` at a gap.
	 */
	async apply(on: On, groups: readonly ReadGroup[]): Promise<number> {
		const entries = groups.flatMap((group) => group.records.map((text) => new Entry(group.seq, text)));
		try {
			return await this.#store.transaction(on, (tx) => this.#apply(tx, groups, entries, (...batch) => this.#write(...batch)));
		} catch (error) {
			if (error instanceof SequenceError || !this.#store.isRecordFault(error)) throw error;
		}
		// Savepoints are used only after a failure: they cost more than the batch.
		return this.#store.transaction(on, (tx) => this.#apply(tx, groups, entries, (...batch) => this.#isolate(...batch)));
	}

	async #apply(
		tx: BatchTransaction,
		groups: readonly ReadGroup[],
		allEntries: readonly Entry[],
		write: (tx: BatchTransaction, entries: readonly Entry[], state: BatchState, postedAtMs: number) => Promise<Written>,
	): Promise<number> {
		const needs = needsOf(allEntries);
		let { appliedSeq, state, nowMs } = await tx.lock(needs);
		if (appliedSeq === null) throw new SequenceError("the store does not know this boot");
		const unapplied = unappliedGroups(groups, appliedSeq);
		const last = unapplied.at(-1);
		if (last === undefined) return appliedSeq;
		const lostDays = needs.diemDays.filter(({ accountId, day }) => state.account(accountId).budget("diem", day) === undefined);
		if (lostDays.length > 0) {
			await tx.writeAllotments(lostDays);
			({ state, nowMs } = await tx.lock(needs));
		}
		const from = appliedSeq;
		const entries = from < (groups[0]?.seq ?? 0) ? allEntries : allEntries.filter(({ seq }) => seq > from);
		this.#lastPostingMs = Math.max(this.#lastPostingMs, nowMs);
		const { posts, rejects } = await write(tx, entries, state, this.#lastPostingMs);
		await tx.advance(last.seq, { groups: unapplied.length, posts, rejects });
		return last.seq;
	}

	/** Applies all of the entries; throws where one is at fault. */
	async #write(tx: BatchTransaction, entries: readonly Entry[], state: BatchState, postedAtMs: number): Promise<Written> {
		const plan = planBatch(entries, state);
		await tx.write(plan, postedAtMs);
		return { posts: plan.posts.length, rejects: 0, state };
	}

	/** Applies all or none of the entries; where one is at fault, applies halves of them, down to the one. */
	async #isolate(tx: BatchTransaction, entries: readonly Entry[], state: BatchState, postedAtMs: number): Promise<Written> {
		let fault: unknown;
		try {
			const written = await tx.savepoint(() => this.#write(tx, entries, state.next(), postedAtMs));
			return { ...written, state: written.state.next() };
		} catch (error) {
			if (!this.#store.isRecordFault(error)) throw error;
			fault = error;
		}
		const [only] = entries;
		if (entries.length === 1 && only !== undefined) {
			await tx.reject(only, fault instanceof Error ? fault.message : String(fault), postedAtMs);
			return { posts: 0, rejects: 1, state };
		}
		const middle = entries.length >> 1;
		const left = await this.#isolate(tx, entries.slice(0, middle), state, postedAtMs);
		const right = await this.#isolate(tx, entries.slice(middle), left.state, postedAtMs);
		return { posts: left.posts + right.posts, rejects: left.rejects + right.rejects, state: right.state };
	}
}

interface Written {
	readonly posts: number;
	readonly rejects: number;
	/** The state after it. */
	readonly state: BatchState;
}

/** Returns the groups behind `appliedSeq`. Throws `SequenceError` where one is missing. */
function unappliedGroups(groups: readonly ReadGroup[], appliedSeq: number): readonly ReadGroup[] {
	const unapplied = groups.filter(({ seq }) => seq > appliedSeq);
	unapplied.forEach(({ seq }, index) => {
		if (seq !== appliedSeq + 1 + index) throw new SequenceError(`group ${seq} after ${appliedSeq + index}`);
	});
	return unapplied;
}
