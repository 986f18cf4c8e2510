/**
 * Leases for a replay. After a power cut the journal may contain posts whose lease the store lost with its unsynced
 * log. The node held everything that was free, so it gets that again before its posts are applied.
 */
import type { ReadGroup } from "../journal/index.ts";
import type { JournalRecord } from "../journal/records.ts";
import { ZERO } from "../ledger/nano.ts";
import type { AcquireRequest } from "./port.ts";

/**
 * Returns each account and day from which the posts of these groups took money, once. Unreadable records are left for
 * the application to reject.
 */
export function budgetsSpentBy(groups: readonly ReadGroup[]): AcquireRequest[] {
	const spent = new Map<string, AcquireRequest>();
	for (const text of groups.flatMap((group) => group.records)) {
		const record = parsed(text);
		if (record?.t !== "post" || !(record.priceNano > 0)) continue;
		const { accountId, day } = record;
		spent.set(`${accountId} ${day}`, { accountId, day, needNano: ZERO });
	}
	return [...spent.values()];
}

function parsed(text: string): JournalRecord | null {
	try {
		return JSON.parse(text) as JournalRecord | null;
	} catch {
		return null;
	}
}
