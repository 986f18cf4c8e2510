import type { MoneySource, PostLine } from "../journal/records.ts";
import { lineNano, type Nano, nano } from "../ledger/nano.ts";
import type { UsableMoney } from "../store/port.ts";
import type { ChargeLine } from "./port.ts";

/** An amount split over the three sources, in nano-USD. */
export interface Split {
	readonly diem: number;
	readonly bundled: number;
	readonly usd: number;
}

/** Cuts the free money of each source to the key's caps: diem by its own cap, bundled and USD together by theirs. */
export function withinCaps(free: Split, headroomDiem: number, headroomUsd: number): Split {
	const bundled = Math.min(free.bundled, headroomUsd);
	return { diem: Math.min(free.diem, headroomDiem), bundled, usd: Math.min(free.usd, headroomUsd - bundled) };
}

/** Returns the sum of a split. Past 2^53 it is not exact: use it to compare with an amount, never to record one. */
export function sumOfSplit(split: Split): number {
	return split.diem + split.bundled + split.usd;
}

/** Takes `amount` in spending order: diem, bundled, usd. Returns undefined if it does not fit. */
export function takeInOrder(amount: number, from: Split): Split | undefined {
	const diem = Math.min(amount, from.diem);
	const bundled = Math.min(amount - diem, from.bundled);
	const usd = amount - diem - bundled;
	return usd <= from.usd ? { diem, bundled, usd } : undefined;
}

/** Turns the overrun of a split into an owed amount, as far as `most` allows; the operator bears the rest. */
export function owedPart(split: SplitPost, most: UsableMoney): { readonly lines: readonly PostLine[]; readonly owed: Nano } {
	let owable = Math.min(split.overrun, most.diem + most.usd);
	const owed = nano(owable);
	const lines = split.lines.map((line) => {
		const part = Math.min(owable, line.overrun);
		owable -= part;
		return part === 0 ? line : { ...line, owed: nano(part), overrun: nano(line.overrun - part) };
	});
	return { lines, owed };
}

/** The lines of a post with the source of every part, and their sums. */
export interface SplitPost {
	readonly lines: readonly PostLine[];
	readonly price: Nano;
	readonly diem: number;
	readonly bundled: number;
	readonly usd: number;
	readonly overrun: Nano;
}

/**
 * Prices each line (rounded once per line) and takes it from `from` in spending order by integer subtraction. What no
 * source covers is overrun. Throws MoneyError for invalid units or prices.
 */
export function splitPost(charge: readonly ChargeLine[], from: Split): SplitPost {
	let { diem, bundled, usd } = from;
	let price = 0;
	let overrun = 0;
	const lines: PostLine[] = [];
	for (const { sku, units, picoPrice } of charge) {
		const amount = lineNano(units, picoPrice);
		price += amount;
		const fromDiem = Math.min(amount, diem);
		const fromBundled = Math.min(amount - fromDiem, bundled);
		const fromUsd = Math.min(amount - fromDiem - fromBundled, usd);
		const uncovered = amount - fromDiem - fromBundled - fromUsd;
		diem -= fromDiem;
		bundled -= fromBundled;
		usd -= fromUsd;
		overrun += uncovered;
		const parts: { source: MoneySource; amount: Nano }[] = [];
		if (fromDiem > 0) parts.push({ source: "diem", amount: nano(fromDiem) });
		if (fromBundled > 0) parts.push({ source: "bundled", amount: nano(fromBundled) });
		if (fromUsd > 0) parts.push({ source: "usd", amount: nano(fromUsd) });
		lines.push({ sku, units, picoPrice, from: parts, overrun: nano(uncovered) });
	}
	return {
		lines,
		price: nano(price),
		diem: from.diem - diem,
		bundled: from.bundled - bundled,
		usd: from.usd - usd,
		overrun: nano(overrun),
	};
}
