import type { LimitPeriod } from "../store/port.ts";

const DAY_MS = 86_400_000;

/** Limits above this are compared as this (9,000,000 USD): nano-USD of 9,999,999,999 USD would not fit 2^53. */
const HIGHEST_LIMIT = 9_000_000_000_000_000;

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

/**
 * A consumption limit in nano-USD for comparison, from the decimal text that was entered: cut (not rounded up)
 * after nine places, clamped to 9e15. No limit is Infinity. Throws where the text is no amount at all: a limit
 * that cannot be read must not turn into no limit.
 */
export function limitNano(text: string | null): number {
	if (text === null) return Number.POSITIVE_INFINITY;
	const decimal = /^(\d{1,10})(?:\.(\d*))?$/.exec(text);
	const value = decimal
		? Number(BigInt(decimal[1] ?? "0") * 1_000_000_000n + BigInt((decimal[2] ?? "").slice(0, 9).padEnd(9, "0")))
		: Math.floor(Number(text) * 1e9);
	if (!(value >= 0) || text.trim() === "") throw new RangeError(`not a consumption limit: ${text}`);
	return Math.min(value, HIGHEST_LIMIT);
}

/** What one key has spent and holds in one window, against its limits. All in nano-USD; Infinity is no limit. */
export class SpendingWindow {
	/** First UTC day of the window. */
	readonly start: number;
	limitUsd: number;
	limitDiem: number;
	/** Bundled credit and USD together. */
	spentUsd = 0;
	spentDiem = 0;
	/** Of the holds that are open and were admitted in this window. */
	heldUsd = 0;
	heldDiem = 0;

	constructor(start: number, limitUsd: number, limitDiem: number) {
		this.start = start;
		this.limitUsd = limitUsd;
		this.limitDiem = limitDiem;
	}

	get roomUsd(): number {
		return Math.max(0, this.limitUsd - this.spentUsd - this.heldUsd);
	}

	/** True where something can be spent, of a limit that has less than a quarter left. */
	get tight(): boolean {
		const { limitUsd, limitDiem } = this;
		const usd = this.spentUsd < limitUsd && this.roomUsd < limitUsd / 4;
		return usd || (this.spentDiem < limitDiem && this.roomDiem < limitDiem / 4);
	}

	get roomDiem(): number {
		return Math.max(0, this.limitDiem - this.spentDiem - this.heldDiem);
	}
}
