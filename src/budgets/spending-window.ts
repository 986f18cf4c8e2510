import type { CapAmounts, CapAnswer, LimitPeriod } from "../store/port.ts";

const DAY_MS = 86_400_000;

/** Returns the UTC day that contains an instant, as days since 1970-01-01. */
export function utcDay(ms: number): number {
	return Math.floor(ms / DAY_MS);
}

/**
 * Returns the first UTC day of the window that contains `day`: the day itself, the first of its month, or 0 for a
 * lifetime. This start alone identifies a window: nothing is reset, and nothing runs at midnight.
 */
export function windowStart(period: LimitPeriod, day: number): number {
	if (period === "EPOCH") return day;
	if (period === "LIFETIME") return 0;
	return day - new Date(day * DAY_MS).getUTCDate() + 1;
}

/** Returns true for a limit that needs a lease: one that exists and is above 0. */
function isLeased(limit: number): boolean {
	return limit > 0 && limit < Number.POSITIVE_INFINITY;
}

/**
 * What one key has spent and holds in one window, against its limits, in nano-USD; Infinity means no limit. On a
 * store of a single node this is complete. On a shared store a window covers one day, and no more is held in it than
 * is leased (docs/money.md, Limits of keys); the spent sum is then the last reported one, and never too high.
 */
export class SpendingWindow {
	/** First UTC day of the window; on a shared store, its day. */
	readonly start: number;
	limitUsd: number;
	limitDiem: number;
	/** Bundled credit and USD together. */
	spentUsd = 0;
	spentDiem = 0;
	/** Amount of open holds that were admitted in this window. */
	heldUsd = 0;
	heldDiem = 0;
	/** The part of the limits that other nodes have leased, as last reported. */
	elsewhere: CapAmounts = NOTHING;
	readonly #shared: boolean;
	/** Leased to this node and not yet posted. */
	#leasedUsd = 0;
	#leasedDiem = 0;

	constructor(start: number, limitUsd: number, limitDiem: number, shared = false) {
		this.start = start;
		this.limitUsd = limitUsd;
		this.limitDiem = limitDiem;
		this.#shared = shared;
	}

	/** Returns the amount that can be held at once. */
	get headroomUsd(): number {
		const unspent = this.limitUsd - this.spentUsd;
		return Math.max(0, (this.#bound(this.limitUsd) ? Math.min(unspent, this.#leasedUsd) : unspent) - this.heldUsd);
	}

	get headroomDiem(): number {
		const unspent = this.limitDiem - this.spentDiem;
		return Math.max(0, (this.#bound(this.limitDiem) ? Math.min(unspent, this.#leasedDiem) : unspent) - this.heldDiem);
	}

	/** Returns the most that the limits leave to this node, if all other nodes returned theirs. */
	get unspent(): CapAmounts {
		return {
			usd: Math.max(0, this.limitUsd - this.spentUsd - this.heldUsd),
			diem: Math.max(0, this.limitDiem - this.spentDiem - this.heldDiem),
		};
	}

	/** Returns the same, less what other nodes had leased when that was last reported. */
	get unspentHere(): CapAmounts {
		const { usd, diem } = this.unspent;
		return { usd: Math.max(0, usd - this.elsewhere.usd), diem: Math.max(0, diem - this.elsewhere.diem) };
	}

	/** True if holds need a lease of the limits. */
	get leases(): boolean {
		return this.#bound(this.limitUsd) || this.#bound(this.limitDiem);
	}

	/** Returns what is leased less what holds take; below 0 if their leases ended. */
	get leaseHeadroom(): CapAmounts {
		return { usd: this.#leasedUsd - this.heldUsd, diem: this.#leasedDiem - this.heldDiem };
	}

	/** Returns true if something is leased that no hold needs. */
	get idleLease(): boolean {
		return this.#leasedUsd > this.heldUsd || this.#leasedDiem > this.heldDiem;
	}

	get inUse(): boolean {
		return this.#leasedUsd + this.#leasedDiem + this.heldUsd + this.heldDiem > 0;
	}

	/** Applies the answer of an acquire. */
	grow({ granted, spent, elsewhere }: CapAnswer): void {
		this.#leasedUsd += granted.usd;
		this.#leasedDiem += granted.diem;
		this.spentUsd = Math.max(this.spentUsd, spent.usd);
		this.spentDiem = Math.max(this.spentDiem, spent.diem);
		this.elsewhere = elsewhere;
	}

	/**
	 * Counts a post of the window, whose own hold has ended. Its owed part comes out of the limits that nobody has
	 * leased.
	 */
	post({ usd, diem }: CapAmounts, owed: CapAmounts): void {
		this.spentUsd += usd + owed.usd;
		this.spentDiem += diem + owed.diem;
		this.#leasedUsd = Math.max(0, this.#leasedUsd - usd);
		this.#leasedDiem = Math.max(0, this.#leasedDiem - diem);
	}

	/** Cuts the lease down to what holds need, and returns what stays leased. */
	cutLease(): CapAmounts {
		this.#leasedUsd = Math.min(this.#leasedUsd, this.heldUsd);
		this.#leasedDiem = Math.min(this.#leasedDiem, this.heldDiem);
		return { usd: this.#leasedUsd, diem: this.#leasedDiem };
	}

	/** Drops the lease. */
	expireLease(): void {
		this.#leasedUsd = 0;
		this.#leasedDiem = 0;
	}

	#bound(limit: number): boolean {
		return this.#shared && isLeased(limit);
	}
}

const NOTHING: CapAmounts = { usd: 0, diem: 0 };
