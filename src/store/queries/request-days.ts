import type { AdminStore } from "../admin/open-admin.ts";
import { DAY_MS } from "../core/day.ts";
import { firstIdFrom } from "./posts-by-time.ts";

/**
 * Returns how many metered requests were applied on each UTC day, both ends included, by the numbers of their rows: a
 * few seeks per day, at any length of the journal. A failed batch of PostgreSQL skips its numbers, so the count may
 * be a few too high.
 */
export async function requestDays(
	admin: AdminStore,
	{ firstDay, lastDay }: { readonly firstDay: number; readonly lastDay: number },
): Promise<{ readonly day: number; readonly requests: number }[]> {
	const days = [];
	let from = await firstIdFrom(admin.db, firstDay * DAY_MS);
	for (let day = firstDay; day <= lastDay; day++) {
		const next = await firstIdFrom(admin.db, (day + 1) * DAY_MS);
		days.push({ day, requests: next - from });
		from = next;
	}
	return days;
}
