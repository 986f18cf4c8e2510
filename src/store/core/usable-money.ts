import type { MoneySource } from "../../journal/records.ts";
import type { UsableMoney } from "../types.ts";

/**
 * Returns how much of each budget's free money a request can use: diem by its own bound, bundled credit and USD
 * together by theirs.
 */
export function usableParts(
	budgets: readonly { readonly source: MoneySource; readonly free: number }[],
	usable: UsableMoney = { diem: Number.POSITIVE_INFINITY, usd: Number.POSITIVE_INFINITY },
): number[] {
	let roomUsd = usable.usd;
	return budgets.map(({ source, free }) => {
		if (source === "diem") return Math.min(free, usable.diem);
		const part = Math.min(free, roomUsd);
		roomUsd -= part;
		return part;
	});
}
