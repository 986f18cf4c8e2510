import type { MoneySource } from "../journal/records.ts";
import { MoneyError } from "../ledger/nano.ts";

/**
 * What this node has leased of one source of one account, in nano-USD. Invariant, checked at each step:
 * 0 <= held <= left. No path can spend or hold what is not here.
 */
export class Purse {
	readonly source: MoneySource;
	/** Epoch day of diem, 0 for the other sources. */
	readonly day: number;
	/** Leased and not posted. */
	left = 0;
	/** The part of `left` that open holds secure. */
	held = 0;
	/** The part of `held` that is no lease any more: it is gone when the holds of the ended term end. */
	#lapsed = 0;
	/** What the whole account has of this source, in the store and minus own posts, as last heard. Nothing is held on it. */
	total = 0;

	constructor(source: MoneySource, day: number) {
		this.source = source;
		this.day = day;
	}

	get free(): number {
		return this.left - this.held;
	}

	get anywhere(): number {
		return Math.max(this.free, this.total - this.held);
	}

	/** What holds secure of the lease: the rest may go back to the store. */
	get kept(): number {
		return this.held - this.#lapsed;
	}

	/** What stays leased when a post takes `amount`, whose own hold secured `own`: see `spend`. */
	keptAfter(own: number, amount: number): number {
		return this.left - this.#lapsed - Math.max(0, amount - Math.min(own, this.#lapsed));
	}

	/** The store ended the lease: nothing is free, and what holds secure is theirs alone. */
	lapse(): void {
		this.left = this.held;
		this.#lapsed = this.held;
	}

	/** A grant of the store. */
	grow(amount: number): void {
		if (!Number.isSafeInteger(amount) || amount < 0) throw new MoneyError(`not a grant: ${amount}`);
		this.left += amount;
	}

	hold(amount: number): void {
		if (amount > this.left - this.held) throw new MoneyError(`hold of ${amount} ${this.source} passes what is free`);
		this.held += amount;
	}

	/** Returns the part that does not become free: it is of an ended lease. Only the hold's own post may still spend it. */
	release(amount: number): number {
		if (amount > this.held) throw new MoneyError(`release of ${amount} ${this.source} passes what is held`);
		const lapsed = Math.min(amount, this.#lapsed);
		this.#lapsed -= lapsed;
		this.held -= amount;
		this.left -= lapsed;
		return lapsed;
	}

	/** Posts from what is free: an own hold is released first, and what of it `lapsed` is spent before anything else. */
	spend(amount: number, lapsed = 0): void {
		const fromLease = amount - Math.min(amount, lapsed);
		if (fromLease > this.left - this.held) throw new MoneyError(`post of ${amount} ${this.source} passes what is free`);
		this.left -= fromLease;
		this.total -= amount;
	}
}
