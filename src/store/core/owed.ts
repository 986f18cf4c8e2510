/**
 * Posts that a node could not fully pay. Posting never waits, so a price above its hold may exceed the node's lease
 * while the account has money. The record then says what is owed, and the store takes it from free money when it
 * applies the post. Pure: both stores use this rule, and the node's memory follows it too (docs/money.md).
 */
import type { MoneySource, OwedTerms } from "../../journal/records.ts";
import { nano } from "../../ledger/nano.ts";
import type { UsableMoney } from "../types.ts";
import { type AppliedPart, type LinePart, share } from "./post-lines.ts";
import { usableParts } from "./usable-money.ts";

/** The money of one source that can pay an owed amount. */
export interface OwedSource {
	readonly source: MoneySource;
	/** Leased to the node beyond what it knew: an acquire was running when it posted. */
	readonly surplus: number;
	/** Not leased to any node. */
	readonly free: number;
}

export interface PaidOwed {
	/** The parts, where each owed part is replaced by what pays it, and by `overrun` for the rest. */
	readonly parts: readonly AppliedPart[];
	/** The amounts that come out of free money. */
	readonly fromFree: readonly { readonly source: MoneySource; readonly amount: number }[];
}

/** Takes as much of an amount as the sources have, in the given order; the rest is `left`. */
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

/** Pays the owed parts. `sources` is called only where something is owed; it returns them in spending order. */
export function payOwed(
	parts: readonly LinePart[],
	owing: OwedTerms | undefined,
	sources: () => readonly OwedSource[],
): PaidOwed {
	const owed = parts.reduce((sum, part) => sum + (part.source === "owed" ? part.amount : 0), 0);
	if (owed === 0 || owing === undefined) return { parts: parts.flatMap((part) => split(part, [])), fromFree: [] };
	const from = sources();
	// The node learns of this surplus first, so it can apply the same rule without a call.
	const surplus = takeInOrder(
		owed,
		from.map((one) => ({ source: one.source, free: one.surplus })),
		owing.most,
	);
	const free = takeInOrder(surplus.left, from, surplus.most);
	const sourceBalances = from.map(({ source }, index) => ({
		source,
		left: (surplus.taken[index] ?? 0) + (free.taken[index] ?? 0),
	}));
	return {
		parts: parts.flatMap((part) => split(part, sourceBalances)),
		fromFree: from.map(({ source }, index) => ({ source, amount: free.taken[index] ?? 0 })).filter(({ amount }) => amount > 0),
	};
}

/** Splits an owed part; its units are shared in proportion to the amounts and add up. */
function split(part: LinePart, sourceBalances: readonly { readonly source: MoneySource; left: number }[]): AppliedPart[] {
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
	for (const sourceBalance of sourceBalances) {
		const amount = Math.min(amountLeft, sourceBalance.left);
		sourceBalance.left -= amount;
		add(sourceBalance.source, amount);
	}
	add("overrun", amountLeft);
	return shares;
}
