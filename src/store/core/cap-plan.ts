/** Changes of a batch to the limits of keys. Pure, like the rest of the plan. */
import type { OwedTerms, PostRecord } from "../../journal/records.ts";
import type { CapUnit } from "../tables.ts";
import type { CapAmounts } from "../types.ts";
import type { AppliedPart, LinePart } from "./post-lines.ts";

/** Free limits of keys, neither spent nor leased, by `capKey`. */
export type FreeCaps = Map<string, CapAmounts>;

/** A key, and the day of the request that needs its limits. */
export interface CapPlace {
	readonly keyId: string;
	readonly day: number;
}

/** What posts take of a key's leased limits on a day. */
export interface CappedSum {
	readonly accountId: string;
	readonly keyId: string;
	readonly unit: CapUnit;
	readonly day: number;
	amount: number;
}

export function capKey({ keyId, day }: CapPlace): string {
	return `${keyId}/${day}`;
}

/** Returns the key and day where a post owes something that the limits of its key must allow; else null. */
export function capPlaceOf({ capped, owing, keyId, day }: PostRecord): CapPlace | null {
	return capped === true && owing !== undefined && typeof keyId === "string" && Number.isSafeInteger(day) ? { keyId, day } : null;
}

/** Returns what a post owes, cut to the limits of its key: the node may have had no lease of their rest. */
export function allowed(post: PostRecord, free: FreeCaps): OwedTerms | undefined {
	const place = capPlaceOf(post);
	if (place === null || post.owing === undefined) return post.owing;
	const headroom = free.get(capKey(place)) ?? { usd: 0, diem: 0 };
	const { most, kept } = post.owing;
	return {
		kept,
		most: { usd: Math.max(0, Math.min(most.usd, headroom.usd)), diem: Math.max(0, Math.min(most.diem, headroom.diem)) },
	};
}

/** Returns the paid amount of the owed parts, by the unit of limits. */
export function owedPaidOf(before: readonly LinePart[], after: readonly AppliedPart[]): CapAmounts {
	const [was, is] = [amountsOf(before), amountsOf(after)];
	return { usd: is.usd - was.usd, diem: is.diem - was.diem };
}

/** Bundled credit and USD count together. */
function amountsOf(parts: readonly (LinePart | AppliedPart)[]): CapAmounts {
	const sum = { usd: 0, diem: 0 };
	for (const { source, amount } of parts) {
		if (source === "diem") sum.diem += amount;
		else if (source !== "overrun" && source !== "owed") sum.usd += amount;
	}
	return sum;
}

/** Reduces the free limits by what was owed and is now paid, for the next post of the batch. */
export function takeOwedCaps(post: PostRecord, owed: CapAmounts, free: FreeCaps): void {
	const place = capPlaceOf(post);
	const headroom = place === null ? undefined : free.get(capKey(place));
	if (place === null || headroom === undefined) return;
	free.set(capKey(place), { usd: headroom.usd - owed.usd, diem: headroom.diem - owed.diem });
}

/** What the posts of a batch take of leased limits. */
export class CappedSums {
	readonly #sums = new Map<string, CappedSum>();

	/** Adds what a post takes from the lease; owed parts come out of limits that no node has leased. */
	add(post: PostRecord, parts: readonly AppliedPart[], owed: CapAmounts): void {
		const all = amountsOf(parts);
		for (const unit of ["usd", "diem"] as const satisfies readonly CapUnit[]) {
			const amount = all[unit] - owed[unit];
			if (amount <= 0) continue;
			const key = `${post.keyId}/${unit}/${post.day}`;
			const sum = this.#sums.get(key);
			if (sum !== undefined) sum.amount += amount;
			else this.#sums.set(key, { accountId: post.accountId, keyId: post.keyId ?? "", unit, day: post.day, amount });
		}
	}

	sums(): Iterable<CappedSum> {
		return this.#sums.values();
	}
}
