import { invalidField } from "../../schema/index.ts";
import { SOURCE_OF, timeOf, type UsageHistoryQuery } from "./schema.ts";

/**
 * Returns the filters of a list's first page.
 * @throws ApiError 400
 */
export function filtersOf(query: Omit<UsageHistoryQuery, "pageSize" | "cursor">) {
	const fromMs = timeOf("startTimestamp", query.startTimestamp);
	const toMs = timeOf("endTimestamp", query.endTimestamp);
	if (fromMs !== null && toMs !== null && toMs <= fromMs)
		throw invalidField(["endTimestamp"], "must be later than startTimestamp");
	return { currency: query.currency === undefined ? null : SOURCE_OF[query.currency], fromMs, toMs };
}

/**
 * Checks that a cursor has no filter beside it.
 * @throws ApiError 400
 */
export function requireCursorAlone<Query extends object>(query: Query, filters: readonly (keyof Query & string)[]): void {
	const beside = filters.find((name) => query[name] !== undefined);
	if (beside !== undefined)
		throw invalidField([beside], "must not stand beside a cursor, which holds the filters of its first page");
}
