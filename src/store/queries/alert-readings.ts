/** The data for the rules of alerts: accounts that run out, keys near their limit, the cost of a day. */
import { sql } from "kysely";
import { withUsage } from "../admin/key-usage.ts";
import type { AdminStore } from "../admin/open-admin.ts";
import { keyOf } from "../core/caller-rows.ts";
import { DAY_MS } from "../core/day.ts";
import { limitNano } from "../core/key-limits.ts";

export interface AlertReadingsQuery {
	/** Nano-USD; null: not requested. */
	readonly balanceBelow: number | null;
	/** Share of a limit, 0 to 1; null: not requested. */
	readonly keyShare: number | null;
	readonly spend: boolean;
}

export interface AlertReadings {
	/** Accounts that ever received USD and have less now, in nano-USD, lowest first. */
	readonly low: readonly { readonly accountId: string; readonly name: string; readonly usd: number }[];
	readonly near: readonly {
		readonly keyId: string;
		readonly accountId: string;
		readonly unit: "usd" | "diem";
		/** Share of the limit. */
		readonly share: number;
	}[];
	/** Nano-USD of all accounts on this UTC day, including bundled credit and diem; null: not requested. */
	readonly spentToday: number | null;
}

/** Most entries of each kind. */
const MAX_LISTED = 200;
const KEYS_AT_ONCE = 500;

export function alertReadings(admin: AdminStore, query: AlertReadingsQuery): Promise<AlertReadings> {
	const nowMs = admin.wallMs();
	return admin.db
		.transaction()
		.setAccessMode("read only")
		.execute(async (tx) => {
			const low = query.balanceBelow === null ? [] : await lowOf(tx, query.balanceBelow);
			const near = query.keyShare === null ? [] : await nearOf(tx, query.keyShare, nowMs);
			return { low, near, spentToday: query.spend ? await spentOn(tx, Math.floor(nowMs / DAY_MS)) : null };
		});
}

type Db = AdminStore["db"];

/** A disabled account spends nothing, so nobody has to fill it. */
async function lowOf(db: Db, below: number): Promise<AlertReadings["low"]> {
	const rows = await db
		.selectFrom("budgets")
		.innerJoin("accounts", "accounts.id", "budgets.account_id")
		.select(["accounts.id", "accounts.name", "budgets.balance"])
		.where("budgets.source", "=", "usd")
		.where("budgets.balance", "<", BigInt(below))
		.where("accounts.disabled", "=", 0n)
		.orderBy("budgets.balance")
		.orderBy("accounts.id")
		.limit(MAX_LISTED)
		.execute();
	return rows.map(({ id, name, balance }) => ({ accountId: id, name, usd: Number(balance) }));
}

async function nearOf(db: Db, share: number, nowMs: number): Promise<AlertReadings["near"]> {
	const near: AlertReadings["near"][number][] = [];
	for (let after = ""; near.length < MAX_LISTED; ) {
		const rows = await db
			.selectFrom("keys")
			.selectAll()
			.where("id", ">", after)
			.where("revoked_at", "is", null)
			.where((is) => is.or([is("limit_usd", "is not", null), is("limit_diem", "is not", null)]))
			.orderBy("id")
			.limit(KEYS_AT_ONCE)
			.execute();
		for (const { key, currentPeriod } of await withUsage(db, rows.map(keyOf), nowMs)) {
			for (const unit of ["usd", "diem"] as const) {
				const limit = limitNano(key.limits[unit]);
				// A limit of 0 switches the unit off, so nothing approaches it.
				const reached = limit > 0 ? Number(currentPeriod?.[unit] ?? 0n) / limit : 0;
				if (reached >= share) near.push({ keyId: key.id, accountId: key.accountId, unit, share: reached });
			}
		}
		const last = rows.at(-1);
		if (last === undefined || rows.length < KEYS_AT_ONCE) break;
		after = last.id;
	}
	return near.slice(0, MAX_LISTED);
}

async function spentOn(db: Db, day: number): Promise<number> {
	const row = await db
		.selectFrom("usage_daily")
		.select(sql<bigint | string | null>`sum(amount)`.as("amount"))
		.where("day", "=", BigInt(day))
		.where("unit", "in", ["usd", "bundled", "diem"])
		.executeTakeFirst();
	return Number(row?.amount ?? 0);
}
