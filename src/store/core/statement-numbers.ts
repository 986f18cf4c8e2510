/**
 * Numbers the entries of each account's statement as they are applied: over all units, and in each unit. A page of a
 * statement is then a range of numbers, found by its position at any length of the journal. The numbers have no gaps
 * and follow the order of application; only one writer may number an account's entries. When old posts are archived,
 * numbering continues behind theirs (`statement_starts`).
 */
import type { MoneySource } from "../../journal/records.ts";
import type { AppliedPart } from "./post-lines.ts";

/** The numbers of a post, which are those of its last entry. */
export interface EntryNumbers {
	readonly entries: number | null;
	readonly usd: number | null;
	readonly bundled: number | null;
	readonly diem: number | null;
}

/** The last numbers of an account: over all units, and in each. */
export type EntryCounts = { entries: number } & Record<MoneySource, number>;

const NO_ENTRIES: EntryNumbers = { entries: null, usd: null, bundled: null, diem: null };

/** Numbers the parts of a post after `counts`, which it advances. Parts that the operator bears are in no statement. */
export function numberEntries(counts: EntryCounts, parts: readonly AppliedPart[]): EntryNumbers {
	const touched = new Set<MoneySource>();
	for (const { source } of parts) {
		if (source === "overrun") continue;
		counts.entries++;
		counts[source]++;
		touched.add(source);
	}
	if (touched.size === 0) return NO_ENTRIES;
	const number = (source: MoneySource) => (touched.has(source) ? counts[source] : null);
	return { entries: counts.entries, usd: number("usd"), bundled: number("bundled"), diem: number("diem") };
}
