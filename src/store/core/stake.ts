/** Rules of the daily diem allowance: a stake counts from the UTC day after it was set. */
import { NANO_PER_USD } from "../../ledger/nano.ts";

/** Least stake with which anything can be spent (accounts, billing: 0.1 diem). */
export const MIN_STAKE_NANO = NANO_PER_USD / 10;

/**
 * Returns SQL for the stake of an account on a UTC day, given placeholders for both. A stake read from the chain
 * counts for its own day only.
 */
export function stakeSql(account: string, day: string): string {
	return `SELECT CASE WHEN source = 'operator' OR from_day = ${day} THEN stake ELSE 0 END AS stake FROM diem_stakes
		WHERE account_id = ${account} AND from_day <= ${day} ORDER BY from_day DESC LIMIT 1`;
}
