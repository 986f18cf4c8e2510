/** Spending of keys, from the daily sums: everything that is applied, at any length of the journal. */
import { type ExpressionWrapper, type SqlBool, sql } from "kysely";
import { windowDays } from "../core/caller-rows.ts";
import { DAY_MS } from "../core/day.ts";
import type { StoreDb, Tables } from "../tables.ts";
import type { ApiKey } from "../types.ts";

/** In nano-USD and nano-diem; sums may pass 2^53. `usd` includes bundled credit. */
export interface KeyUsage {
	readonly usd: bigint;
	readonly diem: bigint;
}

export interface KeyWithUsage {
	readonly key: ApiKey;
	/** Spent on the UTC day and the six before it. */
	readonly trailingSevenDays: KeyUsage;
	/** Spent in the current window of its limit; null for a key without one. */
	readonly currentPeriod: KeyUsage | null;
}

const NOTHING: KeyUsage = { usd: 0n, diem: 0n };

/** Adds to each key what it has spent as of `nowMs` (Unix milliseconds), with two queries for all. */
export async function withUsage(db: StoreDb, keys: readonly ApiKey[], nowMs: number): Promise<KeyWithUsage[]> {
	const day = Math.floor(nowMs / DAY_MS);
	const week = await spentByKey(db, keys, sql`BETWEEN ${sql.lit(day - 6)} AND ${sql.lit(day)}`);
	const limited = keys.filter((key) => key.limits.usd !== null || key.limits.diem !== null);
	const period = await spentByKey(db, limited, ofCurrentWindow(day));
	const isLimited = new Set(limited.map((key) => key.id));
	return keys.map((key) => ({
		key,
		trailingSevenDays: week.get(key.id) ?? NOTHING,
		currentPeriod: isLimited.has(key.id) ? (period.get(key.id) ?? NOTHING) : null,
	}));
}

/**
 * Selects the window of the key's own period: one query serves keys of all periods. Each key is a range of the
 * table's primary key.
 */
function ofCurrentWindow(day: number) {
	const month = windowDays("MONTH", day);
	const pick = (epoch: number, ofMonth: number, lifetime: number) =>
		sql`CASE keys.limit_period WHEN 'EPOCH' THEN ${sql.lit(epoch)} WHEN 'MONTH' THEN ${sql.lit(ofMonth)} ELSE ${sql.lit(lifetime)} END`;
	return sql`BETWEEN ${pick(day, month.first, 0)} AND ${pick(day, month.last, windowDays("LIFETIME", day).last)}`;
}

async function spentByKey(
	db: StoreDb,
	keys: readonly ApiKey[],
	days: ReturnType<typeof sql>,
): Promise<ReadonlyMap<string, KeyUsage>> {
	if (keys.length === 0) return new Map();
	const inDays = sql<SqlBool>`usage_daily.day ${days}` as unknown as ExpressionWrapper<Tables, "keys" | "usage_daily", SqlBool>;
	const sum = (units: string) =>
		sql<bigint | string | null>`sum(CASE WHEN usage_daily.unit IN (${sql.raw(units)}) THEN usage_daily.amount END)`;
	const rows = await db
		.selectFrom("keys")
		.innerJoin("usage_daily", (join) =>
			join.onRef("usage_daily.account_id", "=", "keys.account_id").onRef("usage_daily.key_id", "=", "keys.id").on(inDays),
		)
		.select(["keys.id", sum("'usd', 'bundled'").as("usd"), sum("'diem'").as("diem")])
		.where(
			"keys.id",
			"in",
			keys.map((key) => key.id),
		)
		.groupBy("keys.id")
		.execute();
	return new Map(rows.map((row) => [row.id, { usd: BigInt(row.usd ?? 0), diem: BigInt(row.diem ?? 0) }]));
}
