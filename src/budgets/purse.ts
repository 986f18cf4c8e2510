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
	/** What the whole account has of this source, in the store and minus own posts: for display only. */
	total = 0;

	constructor(source: MoneySource, day: number) {
		this.source = source;
		this.day = day;
	}

	get free(): number {
		return this.left - this.held;
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

	release(amount: number): void {
		if (amount > this.held) throw new MoneyError(`release of ${amount} ${this.source} passes what is held`);
		this.held -= amount;
	}

	/** Posts from what is free: an own hold is released first. */
	spend(amount: number): void {
		if (amount > this.left - this.held) throw new MoneyError(`post of ${amount} ${this.source} passes what is free`);
		this.left -= amount;
		this.total -= amount;
	}
}
