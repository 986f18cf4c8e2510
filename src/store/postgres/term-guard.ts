/**
 * Decides on the event loop, without any call, whether this node may still spend. Its leases are its own only for a
 * time after its last successful heartbeat, and its cached keys are valid only while it receives changes.
 */
import type { Durability, Journal, JournalRecord, WorkRefusal } from "../../journal/index.ts";
import type { Instant, TermClock } from "../core/term-times.ts";

/** Without a feed of changes for this long a node refuses new work: it may still have a revoked key cached. */
const FEED_PATIENCE_MS = 30_000;

export class TermGuard {
	readonly #spendForMs: number;
	readonly #clock: TermClock;
	#beatAt: Instant;
	#fedAt: Instant;
	#ended = false;

	constructor(spendForMs: number, beatAt: Instant, clock: TermClock) {
		this.#spendForMs = spendForMs;
		this.#clock = clock;
		this.#beatAt = beatAt;
		this.#fedAt = clock.instant();
	}

	/** Notes a successful heartbeat that was sent at that time. */
	beat(sentAt: Instant): void {
		this.#beatAt = sentAt;
		this.#ended = false;
	}

	/** Notes that all changes up to that time were received. */
	fed(at: Instant): void {
		this.#fedAt = at;
	}

	/** Notes that the store ended the term. */
	end(): void {
		this.#ended = true;
	}

	/** Milliseconds until the leases are no longer this node's own, without another heartbeat; 0 where that is now. */
	get leftMs(): number {
		return this.#ended ? 0 : Math.max(0, this.#spendForMs - this.#clock.since(this.#beatAt));
	}

	/** Returns null where the node may spend. */
	check(): WorkRefusal | null {
		if (this.#ended || this.#clock.since(this.#beatAt) > this.#spendForMs) return TERM_ENDED;
		return this.#clock.since(this.#fedAt) > FEED_PATIENCE_MS ? NO_FEED : null;
	}
}

/** The node's journal, which accepts new work only while the term lasts. */
export class GuardedJournal implements Journal {
	readonly #journal: Journal;
	readonly #term: TermGuard;

	constructor(journal: Journal, term: TermGuard) {
		this.#journal = journal;
		this.#term = term;
	}

	get termLeftMs(): number {
		return this.#term.leftMs;
	}

	get syncSeconds() {
		return this.#journal.syncSeconds;
	}

	get writtenSeq(): number {
		return this.#journal.writtenSeq;
	}

	get appliedSeq(): number {
		return this.#journal.appliedSeq;
	}

	get backlogBytes(): number {
		return this.#journal.backlogBytes;
	}

	append(record: JournalRecord): Promise<void> {
		return this.#journal.append(record);
	}

	workRefusal(): WorkRefusal | null {
		return this.#journal.workRefusal() ?? this.#term.check();
	}

	close(): Promise<void> {
		return this.#journal.close();
	}
}

/** Default durability of an answer: the loss of a node with its disk then loses nothing. */
export const POSTGRES_DURABILITY: Durability = "store";

const TERM_ENDED: WorkRefusal = {
	reason: "term",
	message: "The store has not heard from this node for too long; no new requests are accepted until it does",
	retryAfterSeconds: 5,
};
const NO_FEED: WorkRefusal = {
	reason: "feed",
	message: "This node receives no changes from the store; no new requests are accepted until it does",
	retryAfterSeconds: 5,
};
