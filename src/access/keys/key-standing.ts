import { parseNano } from "../../ledger/nano.ts";
import type { KeyWithUsage } from "../../store/admin/key-usage.ts";

/** Limits are compared as at most this, in nano-USD (9,000,000 USD). */
const HIGHEST_LIMIT = 9_000_000_000_000_000n;

/**
 * True where the key has money to spend now: the account has some, of a currency whose limit the key has not
 * reached. Nano-USD and nano-diem; `usd` covers bundled credit.
 */
export function maySpend(
	{ key, currentPeriod }: Pick<KeyWithUsage, "key" | "currentPeriod">,
	balances: { readonly usd: number; readonly diem: number },
): boolean {
	const spent = currentPeriod ?? { usd: 0n, diem: 0n };
	const usd = balances.usd > 0 && belowLimit(spent.usd, key.limits.usd);
	return usd || (balances.diem > 0 && belowLimit(spent.diem, key.limits.diem));
}

function belowLimit(spent: bigint, limit: string | null): boolean {
	if (limit === null) return true;
	const entered = parseNano(limit);
	const compared = entered === undefined ? HIGHEST_LIMIT : BigInt(entered);
	return spent < (compared < HIGHEST_LIMIT ? compared : HIGHEST_LIMIT);
}
