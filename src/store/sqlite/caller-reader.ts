/** Reads keys and accounts for the node's caches. */
import type { Database, Statement } from "bun:sqlite";
import { type Nano, nano } from "../../ledger/nano.ts";
import { type AccountRow, accountOf, type KeyRow, keyOf, NOTHING_SPENT, windowDays } from "../core/caller-rows.ts";
import type { Account, ApiKey, KeyLoad, KeySpent } from "../types.ts";
import { readName, type WalletName, walletKey } from "../wallet-callers.ts";

export class CallerReader {
	readonly #sql: ReturnType<typeof prepare>;

	constructor(db: Database) {
		this.#sql = prepare(db);
	}

	account(accountId: string): Account | null {
		const row = this.#sql.account.get(accountId);
		return row === null ? null : accountOf(row);
	}

	/**
	 * Reads a key, or a wallet by its name (wallet-callers.ts), with its account and what it spent in the
	 * window of its limit.
	 */
	key(hash: string, day: number): KeyLoad | "revoked" | null {
		const name = readName(hash);
		if (name !== null) return this.#wallet(hash, name);
		const row = this.#sql.key.get(hash);
		if (row !== null && row.revoked_at !== null) return "revoked";
		const account = row === null ? null : this.account(row.account_id);
		if (row === null || account === null) return null;
		const key = keyOf(row);
		return { key, account, spent: this.#spent(key, day) };
	}

	#wallet(name: string, { by, value }: WalletName): KeyLoad | null {
		const row = (by === "identity" ? this.#sql.byIdentity : this.#sql.byWallet).get(value);
		if (row === null) return null;
		const account = accountOf(row);
		return { key: walletKey(name, account), account, spent: NOTHING_SPENT };
	}

	#spent(key: ApiKey, day: number): KeySpent {
		if (key.limits.usd === null && key.limits.diem === null) return { usd: nano(0), diem: nano(0) };
		const { first, last } = windowDays(key.limitPeriod, day);
		const row = this.#sql.spent.get(key.accountId, key.id, first, last);
		return { usd: clamped(row?.usd), diem: clamped(row?.diem) };
	}
}

/** Sums of what a key spent on days, by the unit of limits. */
export const SPENT = `SELECT sum(CASE WHEN unit IN ('usd', 'bundled') THEN amount END) AS usd, sum(CASE unit WHEN 'diem' THEN amount END) AS diem
				FROM usage_daily WHERE account_id = ? AND key_id = ? AND day BETWEEN ? AND ?`;

/** Clamps a sum to 2^53-1: a sum may pass it, but no limit does, so comparisons stay correct. */
export function clamped(sum: bigint | null | undefined): Nano {
	const value = sum ?? 0n;
	return nano(value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(value));
}

type Sql<Row = unknown> = Statement<Row, (string | number | bigint | null)[]>;

const ACCOUNT = "SELECT id, name, tier, disabled, operator, wallet, identity, created_at FROM accounts";

function prepare(db: Database) {
	return {
		account: db.prepare(`${ACCOUNT} WHERE id = ?`) as Sql<AccountRow>,
		byIdentity: db.prepare(`${ACCOUNT} WHERE identity = ?`) as Sql<AccountRow>,
		byWallet: db.prepare(`${ACCOUNT} WHERE wallet = ?`) as Sql<AccountRow>,
		key: db.prepare(
			`SELECT id, account_id, type, last6, description, limit_usd, limit_diem, limit_vcu, limit_period, restrictions,
				created_at, expires_at, last_used_at, revoked_at FROM keys WHERE hash = ?`,
		) as Sql<KeyRow & { revoked_at: bigint | null }>,
		spent: db.prepare(SPENT) as Sql<{ usd: bigint | null; diem: bigint | null }>,
	};
}
