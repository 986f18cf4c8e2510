/** Reads keys and accounts for the node's caches. */
import type { SQL } from "bun";
import { type Nano, nano } from "../../ledger/nano.ts";
import { accountOf, keyOf, NOTHING_SPENT, windowDays } from "../core/caller-rows.ts";
import type { Account, ApiKey, KeyLoad, KeySpent } from "../types.ts";
import { readName, type WalletName, walletKey } from "../wallet-callers.ts";

export async function readAccount(sql: SQL, accountId: string): Promise<Account | null> {
	const [row] = await sql.unsafe("SELECT * FROM accounts WHERE id = $1", [accountId]);
	return row === undefined ? null : accountOf(row);
}

/**
 * Reads a key, or a wallet by its name (wallet-callers.ts), with its account and what it spent in the
 * window of its limit.
 */
export async function readKey(sql: SQL, hash: string, day: number): Promise<KeyLoad | "revoked" | null> {
	const name = readName(hash);
	if (name !== null) return readWallet(sql, hash, name);
	const [row] = await sql.unsafe("SELECT * FROM keys WHERE hash = $1", [hash]);
	if (row !== undefined && row.revoked_at !== null) return "revoked";
	const account = row === undefined ? null : await readAccount(sql, row.account_id);
	if (account === null) return null;
	const key = keyOf(row);
	return { key, account, spent: await spentBy(sql, key, day) };
}

async function readWallet(sql: SQL, name: string, { by, value }: WalletName): Promise<KeyLoad | null> {
	const [row] = await sql.unsafe(`SELECT * FROM accounts WHERE ${by === "identity" ? "identity" : "wallet"} = $1`, [value]);
	if (row === undefined) return null;
	const account = accountOf(row);
	return { key: walletKey(name, account), account, spent: NOTHING_SPENT };
}

async function spentBy(sql: SQL, key: ApiKey, day: number): Promise<KeySpent> {
	if (key.limits.usd === null && key.limits.diem === null) return { usd: nano(0), diem: nano(0) };
	const { first, last } = windowDays(key.limitPeriod, day);
	const [row] = await sql.unsafe(
		`SELECT sum(amount) FILTER (WHERE unit IN ('usd', 'bundled')) AS usd, sum(amount) FILTER (WHERE unit = 'diem') AS diem
			FROM usage_daily WHERE account_id = $1 AND key_id = $2 AND day BETWEEN $3 AND $4`,
		[key.accountId, key.id, first, last],
	);
	return { usd: clamped(row.usd), diem: clamped(row.diem) };
}

/** Clamps a sum (as text) to 2^53-1: a sum may pass it, but no limit does, so comparisons stay correct. */
function clamped(sum: string | null): Nano {
	const value = BigInt(sum ?? 0);
	return nano(value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value));
}
