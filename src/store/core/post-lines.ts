/** Turns a post record into rows: one part becomes one movement. Pure. */
import type { MoneySource, PostLine, PostRecord } from "../../journal/records.ts";
import { addNano, type Nano, nano, ZERO } from "../../ledger/nano.ts";
import { RecordFault } from "./record-fault.ts";

export interface AppliedPart {
	readonly source: MoneySource | "overrun";
	readonly sku: string;
	readonly amount: Nano;
	/** This part's share of the line's units; the shares add up to them. */
	readonly units: number;
	readonly picoPrice: number;
}

/** A part as the record has it: an owed one has no source yet. */
export type LinePart = AppliedPart | (Omit<AppliedPart, "source"> & { readonly source: "owed" });

export interface FreeLine {
	readonly sku: string;
	readonly units: number;
}

export interface AppliedPost {
	readonly parts: readonly LinePart[];
	/** Usage at price 0. */
	readonly free: readonly FreeLine[];
}

const SOURCES = new Set<string>(["diem", "bundled", "usd"]);

/** Reads the lines of a post. Throws `RecordFault` or `MoneyError` where they do not add up to its price. */
export function applyPost(post: PostRecord): AppliedPost {
	const parts: LinePart[] = [];
	const free: FreeLine[] = [];
	let sum = ZERO;
	for (const line of post.lines) {
		const ofLine = partsOf(line);
		if (ofLine.length === 0 && line.units > 0) free.push({ sku: line.sku, units: line.units });
		for (const part of ofLine) {
			sum = addNano(sum, part.amount);
			parts.push(part);
		}
	}
	if (sum !== nano(post.priceNano)) throw new RecordFault(`the lines sum to ${sum}, the price is ${post.priceNano}`);
	if (parts.length === 0 && free.length === 0) free.push({ sku: post.route, units: 0 });
	return { parts, free };
}

function partsOf(line: PostLine): LinePart[] {
	const amounts: { source: MoneySource | "owed" | "overrun"; amount: Nano }[] = [...line.from];
	if (line.owed !== undefined && nano(line.owed) > 0) amounts.push({ source: "owed", amount: line.owed });
	if (nano(line.overrun) > 0) amounts.push({ source: "overrun", amount: line.overrun });
	let total = ZERO;
	for (const { source, amount } of amounts) {
		if (source !== "overrun" && source !== "owed" && !SOURCES.has(source)) throw new RecordFault(`unknown source ${source}`);
		if (nano(amount) === 0) throw new RecordFault("a part of 0");
		total = addNano(total, amount);
	}
	let unitsLeft = nano(line.units) as number;
	return amounts.map(({ source, amount }, index) => {
		const units = index === amounts.length - 1 ? unitsLeft : share(line.units, amount, total);
		unitsLeft -= units;
		return { source, sku: line.sku, amount, units, picoPrice: line.picoPrice };
	});
}

/** Returns units x amount / total, rounded down, in whole numbers. */
export function share(units: number, amount: number, total: number): number {
	const product = units * amount;
	if (Number.isSafeInteger(product)) return Math.floor(product / total);
	return Number((BigInt(units) * BigInt(amount)) / BigInt(total));
}
