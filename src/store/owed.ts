/**
 * What a node could not pay a post from. Posting never waits, so a price above its hold may find money missing here that
 * the account has: the record says what is owed, and the store takes it when it books the post, as far as free money
 * goes. Pure: both stores book by it, and the node's memory follows by the same rule (docs/money.md).
 */
import type { MoneySource, OwedTerms } from "../journal/records.ts";
import { nano } from "../ledger/nano.ts";
import type { UsableMoney } from "./port.ts";
import { type AppliedPart, type LinePart, share } from "./post-lines.ts";
import { usableParts } from "./usable-money.ts";

/** What one source has for what is owed. */
export interface OwedSource {
	readonly source: MoneySource;
	/** Leased to the node beyond what it knew of: an acquire was under way when it posted. */
	readonly surplus: number;
	/** Leased to nobody. */
	readonly free: number;
}

export interface PaidOwed {
	/** In the place of each owed part what pays it, and `overrun` for the rest. */
	readonly parts: readonly AppliedPart[];
	/** What of it comes out of free money. */
	readonly fromFree: readonly { readonly source: MoneySource; readonly amount: number }[];
}

/** As much of an amount as there is, source by source in the order given; the rest is `left`. */
export function takeInOrder(
	amount: number,
	sources: readonly { readonly source: MoneySource; readonly free: number }[],
	most: UsableMoney,
): { readonly taken: readonly number[]; readonly left: number; readonly most: UsableMoney } {
	let left = amount;
	let { diem, usd } = most;
	const taken = usableParts(sources, most).map((usable, index) => {
		const part = Math.min(left, usable);
		left -= part;
		if (sources[index]?.source === "diem") diem -= part;
		else usd -= part;
		return part;
	});
	return { taken, left, most: { diem, usd } };
}

/** `sources` is asked for only where something is owed; in spending order. */
export function payOwed(
	parts: readonly LinePart[],
	owing: OwedTerms | undefined,
	sources: () => readonly OwedSource[],
): PaidOwed {
	const owed = parts.reduce((sum, part) => sum + (part.source === "owed" ? part.amount : 0), 0);
	if (owed === 0 || owing === undefined) return { parts: parts.flatMap((part) => split(part, [])), fromFree: [] };
	const from = sources();
	// What the node is about to learn of first: it can then follow without asking.
	const surplus = takeInOrder(
		owed,
		from.map((one) => ({ source: one.source, free: one.surplus })),
		owing.most,
	);
	const free = takeInOrder(surplus.left, from, surplus.most);
	const purses = from.map(({ source }, index) => ({ source, left: (surplus.taken[index] ?? 0) + (free.taken[index] ?? 0) }));
	return {
		parts: parts.flatMap((part) => split(part, purses)),
		fromFree: from.map(({ source }, index) => ({ source, amount: free.taken[index] ?? 0 })).filter(({ amount }) => amount > 0),
	};
}

/** The shares of an owed part: its units follow the amounts and add up. */
function split(part: LinePart, purses: readonly { readonly source: MoneySource; left: number }[]): AppliedPart[] {
	if (part.source !== "owed") return [part];
	const { sku, picoPrice } = part;
	const shares: AppliedPart[] = [];
	let amountLeft: number = part.amount;
	let unitsLeft = part.units;
	const add = (source: AppliedPart["source"], amount: number): void => {
		if (amount === 0) return;
		const last = amount === amountLeft;
		const units = last ? unitsLeft : share(part.units, amount, part.amount);
		amountLeft -= amount;
		unitsLeft -= units;
		shares.push({ source, sku, amount: nano(amount), units, picoPrice });
	};
	for (const purse of purses) {
		const amount = Math.min(amountLeft, purse.left);
		purse.left -= amount;
		add(purse.source, amount);
	}
	add("overrun", amountLeft);
	return shares;
}
