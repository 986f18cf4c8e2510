import type { CapAmounts, CapAnswer, LimitPeriod } from "../store/port.ts";

const DAY_MS = 86_400_000;

/** The UTC day that contains an instant, as days since 1970-01-01. */
export function utcDay(ms: number): number {
	return Math.floor(ms / DAY_MS);
}

/**
 * The first UTC day of the window that contains `day`: the day itself, the first of its month, or 0 for a
 * lifetime. A window is known by this start alone: nothing is reset and nothing runs at midnight.
 */
export function windowStart(period: LimitPeriod, day: number): number {
	if (period === "EPOCH") return day;
	if (period === "LIFETIME") return 0;
	return day - new Date(day * DAY_MS).getUTCDate() + 1;
}

/** True for a limit that something can be spent under: what is not limited, or switched off, needs no lease. */
function isLeased(limit: number): boolean {
	return limit > 0 && limit < Number.POSITIVE_INFINITY;
}

/**
 * What one key has spent and holds in one window, against its limits. All in nano-USD; Infinity is no limit. Where the node
 * alone spends, what it knows here is all there is. On a shared store a window is of one day, and no more is held in it
 * than is leased (docs/money.md, Limits of keys): what was spent is what was heard of last, and never too much.
 */
export class SpendingWindow {
	/** First UTC day of the window; on a shared store its day. */
	readonly start: number;
	limitUsd: number;
	limitDiem: number;
	/** Bundled credit and USD together. */
	spentUsd = 0;
	spentDiem = 0;
	/** Of the holds that are open and were admitted in this window. */
	heldUsd = 0;
	heldDiem = 0;
	/** What of the limits other nodes have leased, as last heard. */
	elsewhere: CapAmounts = NOTHING;
	readonly #shared: boolean;
	/** Leased to this node and not posted. */
	#leasedUsd = 0;
	#leasedDiem = 0;

	constructor(start: number, limitUsd: number, limitDiem: number, shared = false) {
		this.start = start;
		this.limitUsd = limitUsd;
		this.limitDiem = limitDiem;
		this.#shared = shared;
	}

	/** What can be held at once. */
	get roomUsd(): number {
		const open = this.limitUsd - this.spentUsd;
		return Math.max(0, (this.#bound(this.limitUsd) ? Math.min(open, this.#leasedUsd) : open) - this.heldUsd);
	}

	get roomDiem(): number {
		const open = this.limitDiem - this.spentDiem;
		return Math.max(0, (this.#bound(this.limitDiem) ? Math.min(open, this.#leasedDiem) : open) - this.heldDiem);
	}

	/** What the limits leave to this node at most, if all others gave theirs back. */
	get spendable(): CapAmounts {
		return {
			usd: Math.max(0, this.limitUsd - this.spentUsd - this.heldUsd),
			diem: Math.max(0, this.limitDiem - this.spentDiem - this.heldDiem),
		};
	}

	/** The same less what others had leased when that was last heard. */
	get isNearLimit(): CapAmounts {
		const { usd, diem } = this.spendable;
		return { usd: Math.max(0, usd - this.elsewhere.usd), diem: Math.max(0, diem - this.elsewhere.diem) };
	}

	/** True where holds need a lease of the limits. */
	get leases(): boolean {
		return this.#bound(this.limitUsd) || this.#bound(this.limitDiem);
	}

	/** What is leased less what holds take; below 0 where their leases ended. */
	get leaseRoom(): CapAmounts {
		return { usd: this.#leasedUsd - this.heldUsd, diem: this.#leasedDiem - this.heldDiem };
	}

	/** True where something is leased that no hold needs. */
	get idleLease(): boolean {
		return this.#leasedUsd > this.heldUsd || this.#leasedDiem > this.heldDiem;
	}

	get inUse(): boolean {
		return this.#leasedUsd + this.#leasedDiem + this.heldUsd + this.heldDiem > 0;
	}

	/** Takes the answer of an acquire. */
	grow({ granted, spent, elsewhere }: CapAnswer): void {
		this.#leasedUsd += granted.usd;
		this.#leasedDiem += granted.diem;
		this.spentUsd = Math.max(this.spentUsd, spent.usd);
		this.spentDiem = Math.max(this.spentDiem, spent.diem);
		this.elsewhere = elsewhere;
	}

	/** A post of the window, whose own hold has ended. What it owes comes out of what nobody has leased. */
	post({ usd, diem }: CapAmounts, owed: CapAmounts): void {
		this.spentUsd += usd + owed.usd;
		this.spentDiem += diem + owed.diem;
		this.#leasedUsd = Math.max(0, this.#leasedUsd - usd);
		this.#leasedDiem = Math.max(0, this.#leasedDiem - diem);
	}

	/** Cuts what is leased down to what holds need, and tells that. */
	cutLease(): CapAmounts {
		this.#leasedUsd = Math.min(this.#leasedUsd, this.heldUsd);
		this.#leasedDiem = Math.min(this.#leasedDiem, this.heldDiem);
		return { usd: this.#leasedUsd, diem: this.#leasedDiem };
	}

	/** Nothing is leased any more. */
	expireLease(): void {
		this.#leasedUsd = 0;
		this.#leasedDiem = 0;
	}

	#bound(limit: number): boolean {
		return this.#shared && isLeased(limit);
	}
}

const NOTHING: CapAmounts = { usd: 0, diem: 0 };
