import type { MoneySource } from "../journal/records.ts";
import { MoneyError } from "../ledger/nano.ts";

/**
 * What this node has leased of one source of one account, in nano-USD. Invariant, checked at each step:
 * 0 <= held <= left. No path can spend or hold what is not here.
 */
export class LeaseBalance {
	readonly source: MoneySource;
	/** Epoch day of diem, 0 for the other sources. */
	readonly day: number;
	/** Leased and not posted. */
	leased = 0;
	/** The part of `left` that open holds secure. */
	held = 0;
	/** The part of `held` that is no lease any more: it is gone when the holds of the ended term end. */
	#expired = 0;
	/** What the whole account has of this source, in the store and minus own posts, as last heard. Nothing is held on it. */
	total = 0;

	constructor(source: MoneySource, day: number) {
		this.source = source;
		this.day = day;
	}

	get free(): number {
		return this.leased - this.held;
	}

	get freeAnywhere(): number {
		return Math.max(this.free, this.total - this.held);
	}

	/** What holds secure of the lease: the rest may go back to the store. */
	get heldOnLease(): number {
		return this.held - this.#expired;
	}

	/** What stays leased when a post takes `amount`, whose own hold secured `own`: see `spend`. */
	leasedAfter(own: number, amount: number): number {
		return this.leased - this.#expired - Math.max(0, amount - Math.min(own, this.#expired));
	}

	/** The store ended the lease: nothing is free, and what holds secure is theirs alone. */
	expire(): void {
		this.leased = this.held;
		this.#expired = this.held;
	}

	/** A grant of the store. */
	grow(amount: number): void {
		if (!Number.isSafeInteger(amount) || amount < 0) throw new MoneyError(`not a grant: ${amount}`);
		this.leased += amount;
	}

	hold(amount: number): void {
		if (amount > this.leased - this.held) throw new MoneyError(`hold of ${amount} ${this.source} passes what is free`);
		this.held += amount;
	}

	/** Returns the part that does not become free: it is of an ended lease. Only the hold's own post may still spend it. */
	release(amount: number): number {
		if (amount > this.held) throw new MoneyError(`release of ${amount} ${this.source} passes what is held`);
		const expired = Math.min(amount, this.#expired);
		this.#expired -= expired;
		this.held -= amount;
		this.leased -= expired;
		return expired;
	}

	/** Posts from what is free: an own hold is released first, and what of it `lapsed` is spent before anything else. */
	spend(amount: number, expired = 0): void {
		const fromLease = amount - Math.min(amount, expired);
		if (fromLease > this.leased - this.held) throw new MoneyError(`post of ${amount} ${this.source} passes what is free`);
		this.leased -= fromLease;
		this.total -= amount;
	}
}
