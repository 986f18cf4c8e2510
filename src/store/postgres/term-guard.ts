/**
 * Decides on the event loop, without asking anybody, whether this node may still spend: its leases are its own only
 * for a time after its last good heartbeat, and what it knows of keys is true only while it hears of changes.
 */
import type { Durability, Journal, JournalRecord, WorkRefusal } from "../../journal/index.ts";
import type { Instant, TermClock } from "./term-times.ts";

/** Without a feed of changes for this long a node takes no work: a revoked key may still be known to it. */
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

	/** A heartbeat that was sent then was good. */
	beat(sentAt: Instant): void {
		this.#beatAt = sentAt;
		this.#ended = false;
	}

	/** The changes up to then were heard. */
	fed(at: Instant): void {
		this.#fedAt = at;
	}

	/** The store ended the term. */
	end(): void {
		this.#ended = true;
	}

	/** Milliseconds until the leases are no more this node's own, without another heartbeat; 0 where that is now. */
	get leftMs(): number {
		return this.#ended ? 0 : Math.max(0, this.#spendForMs - this.#clock.since(this.#beatAt));
	}

	/** null where the node may spend. */
	check(): WorkRefusal | null {
		if (this.#ended || this.#clock.since(this.#beatAt) > this.#spendForMs) return TERM_ENDED;
		return this.#clock.since(this.#fedAt) > FEED_PATIENCE_MS ? NO_FEED : null;
	}
}

/** The node's journal, with room for new work only while the term lasts. */
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

/** What an answer waits for where the configuration does not say: the loss of a node with its disk loses nothing. */
export const POSTGRES_DURABILITY: Durability = "store";

const TERM_ENDED: WorkRefusal = {
	reason: "term",
	message: "The store has not heard of this node for too long; no new requests are taken until it does",
	retryAfterSeconds: 5,
};
const NO_FEED: WorkRefusal = {
	reason: "feed",
	message: "This node does not hear of changes; no new requests are taken until it does",
	retryAfterSeconds: 5,
};
