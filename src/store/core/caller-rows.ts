/** Turns rows of accounts and keys, as either store reads them, into what the node's caches hold. */
import { nano } from "../../ledger/nano.ts";
import type { Account, AccountTier, ApiKey, KeyRestrictions, KeySpent, KeyType, LimitPeriod } from "../types.ts";
import { DAY_MS } from "./day.ts";

export interface AccountRow {
	readonly id: string;
	readonly name: string;
	readonly tier: AccountTier;
	readonly disabled: bigint;
	readonly operator: bigint;
	readonly wallet: string | null;
	readonly identity: string | null;
	readonly created_at: bigint;
}

export interface KeyRow {
	readonly id: string;
	readonly account_id: string;
	readonly type: KeyType;
	readonly last6: string;
	readonly description: string;
	readonly limit_usd: string | null;
	readonly limit_diem: string | null;
	readonly limit_vcu: string | null;
	readonly limit_period: LimitPeriod;
	readonly restrictions: string | null;
	readonly created_at: bigint;
	readonly expires_at: bigint | null;
	readonly last_used_at: bigint | null;
}

export function accountOf(row: AccountRow): Account {
	return {
		id: row.id,
		name: row.name,
		tier: row.tier,
		disabled: row.disabled === 1n,
		operator: row.operator === 1n,
		wallet: row.wallet,
		identity: row.identity,
		createdAtMs: Number(row.created_at),
	};
}

export function keyOf(row: KeyRow): ApiKey {
	return {
		id: row.id,
		accountId: row.account_id,
		type: row.type,
		last6: row.last6,
		description: row.description,
		limits: { usd: row.limit_usd, diem: row.limit_diem, vcu: row.limit_vcu },
		limitPeriod: row.limit_period,
		restrictions: row.restrictions === null ? null : (JSON.parse(row.restrictions) as KeyRestrictions),
		createdAtMs: Number(row.created_at),
		expiresAtMs: row.expires_at === null ? null : Number(row.expires_at),
		lastUsedAtMs: row.last_used_at === null ? null : Number(row.last_used_at),
	};
}

/**
 * Returns the first and last UTC day of a limit's window that contains `day`. A window is found by its date: nothing
 * is ever reset.
 */
export function windowDays(period: LimitPeriod, day: number): { first: number; last: number } {
	if (period === "EPOCH") return { first: day, last: day };
	if (period === "LIFETIME") return { first: 0, last: Number.MAX_SAFE_INTEGER };
	const date = new Date(day * DAY_MS);
	const first = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) / DAY_MS;
	return { first, last: Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1) / DAY_MS - 1 };
}

/** The spent sum of a wallet: its one cap is 0, so its real sum is not needed. */
export const NOTHING_SPENT: KeySpent = { usd: nano(0), diem: nano(0) };
