import type { MoneySource } from "../journal/records.ts";
import { MoneyError } from "../ledger/nano.ts";

/**
 * What this node has leased of one source of one account, in nano-USD. Invariant, checked at each step: 0 <= held <=
 * leased. No path can spend or hold money that this node does not have.
 */
export class LeaseBalance {
	readonly source: MoneySource;
	/** Epoch day of diem; 0 for the other sources. */
	readonly day: number;
	/** Leased and not yet posted. */
	leased = 0;
	/** The part of `leased` that open holds secure. */
	held = 0;
	/** The part of `held` whose lease has ended: it is gone when the holds of the ended term end. */
	#expired = 0;
	/**
	 * What the whole account has of this source: the store's last known total minus own posts. No hold may rely on it.
	 */
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

	/** The part of the lease that holds secure; the rest may return to the store. */
	get heldOnLease(): number {
		return this.held - this.#expired;
	}

	/** Returns what stays leased when a post takes `amount`, whose own hold secured `own`: see `spend`. */
	leasedAfter(own: number, amount: number): number {
		return this.leased - this.#expired - Math.max(0, amount - Math.min(own, this.#expired));
	}

	/** Handles the end of the lease by the store: nothing is free, and only the holds may spend what they secure. */
	expire(): void {
		this.leased = this.held;
		this.#expired = this.held;
	}

	/** Adds a grant of the store. */
	grow(amount: number): void {
		if (!Number.isSafeInteger(amount) || amount < 0) throw new MoneyError(`not a grant: ${amount}`);
		this.leased += amount;
	}

	hold(amount: number): void {
		if (amount > this.leased - this.held) throw new MoneyError(`hold of ${amount} ${this.source} passes what is free`);
		this.held += amount;
	}

	/**
	 * Releases a hold. Returns the part that does not become free, because its lease has ended: only the hold's own
	 * post may still spend it.
	 */
	release(amount: number): number {
		if (amount > this.held) throw new MoneyError(`release of ${amount} ${this.source} passes what is held`);
		const expired = Math.min(amount, this.#expired);
		this.#expired -= expired;
		this.held -= amount;
		this.leased -= expired;
		return expired;
	}

	/**
	 * Spends free money for a post. Its own hold is released first, and the `expired` part of that is spent before
	 * anything else.
	 */
	spend(amount: number, expired = 0): void {
		const fromLease = amount - Math.min(amount, expired);
		if (fromLease > this.leased - this.held) throw new MoneyError(`post of ${amount} ${this.source} passes what is free`);
		this.leased -= fromLease;
		this.total -= amount;
	}
}
