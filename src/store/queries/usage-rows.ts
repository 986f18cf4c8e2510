/** Usage of all accounts, from the daily sums: it reads neither the journal nor other days. */
import { type SelectQueryBuilder, sql } from "kysely";
import type { AdminStore } from "../admin/open-admin.ts";
import type { Tables } from "../tables.ts";

export type UsagePart = "day" | "sku" | "key" | "account";

export interface UsageRowsQuery {
	/** UTC day numbers, both included. */
	readonly firstDay: number;
	readonly lastDay: number;
	/** What the rows are grouped by; empty: one row, the sum. */
	readonly by: readonly UsagePart[];
	readonly accountId?: string;
	readonly keyId?: string;
	/** Most rows: those with the highest amounts. */
	readonly limit: number;
}

/** Nano-USD, nano-diem, and units as the sku counts them. Fields that rows are not grouped by are null. */
export interface UsageSum {
	readonly sku: string | null;
	readonly day: number | null;
	/** `id: null` means usage without a key. */
	readonly key: { readonly id: string | null; readonly description: string; readonly last6: string } | null;
	readonly account: { readonly id: string; readonly name: string } | null;
	readonly usd: number;
	readonly bundled: number;
	readonly diem: number;
	readonly overrun: number;
	readonly units: number;
}

type Sum = bigint | string | null;

const sumOf = (unit: string) =>
	sql<Sum>`sum(CASE WHEN usage_daily.unit = ${sql.lit(unit)} THEN usage_daily.amount ELSE 0 END)`.as(unit);

/** Returns sums, highest first. */
export async function usageRows(admin: AdminStore, query: UsageRowsQuery): Promise<UsageSum[]> {
	const { firstDay, lastDay, by, accountId, keyId, limit } = query;
	let rows = admin.db
		.selectFrom("usage_daily")
		.where("usage_daily.day", ">=", BigInt(firstDay))
		.where("usage_daily.day", "<=", BigInt(lastDay));
	if (accountId !== undefined) rows = rows.where("usage_daily.account_id", "=", accountId);
	if (keyId !== undefined) rows = rows.where("usage_daily.key_id", "=", keyId);
	const groups = await groupRows(rows, by)
		.select([sumOf("usd"), sumOf("bundled"), sumOf("diem"), sumOf("overrun"), sql<Sum>`sum(usage_daily.units)`.as("units")])
		.orderBy(sql`sum(usage_daily.amount)`, "desc")
		.limit(limit)
		.execute();
	const rowNames = await namesOf(admin, groups, by);
	return groups.map((row) => ({
		sku: row.sku,
		day: row.day === null ? null : Number(row.day),
		key: row.key_id === null ? null : { id: row.key_id === "" ? null : row.key_id, ...rowNames.key(row.key_id) },
		account: row.account_id === null ? null : { id: row.account_id, name: rowNames.account(row.account_id) },
		usd: Number(row.usd ?? 0),
		bundled: Number(row.bundled ?? 0),
		diem: Number(row.diem ?? 0),
		overrun: Number(row.overrun ?? 0),
		units: Number(row.units ?? 0),
	}));
}

const COLUMNS = {
	day: "usage_daily.day",
	sku: "usage_daily.sku",
	key: "usage_daily.key_id",
	account: "usage_daily.account_id",
} as const;

function groupRows(rows: SelectQueryBuilder<Tables, "usage_daily", object>, by: readonly UsagePart[]) {
	const column = <T>(part: UsagePart, name: string) =>
		(by.includes(part) ? sql<T | null>`${sql.ref(COLUMNS[part])}` : sql<T | null>`NULL`).as(name);
	const groupedRows = by.length === 0 ? rows : rows.groupBy(by.map((part) => COLUMNS[part]));
	return groupedRows
		.select([column<bigint>("day", "day"), column<string>("sku", "sku")])
		.select([column<string>("key", "key_id"), column<string>("account", "account_id")])
		.$castTo<{ sku: string | null; day: bigint | null; key_id: string | null; account_id: string | null }>();
}

/** Returns the names of the rows' subjects, some hundred at a time. */
async function namesOf(
	admin: AdminStore,
	rows: readonly { readonly key_id: string | null; readonly account_id: string | null }[],
	by: readonly UsagePart[],
) {
	const keys = new Map<string, { description: string; last6: string }>();
	const accounts = new Map<string, string>();
	if (by.includes("key")) {
		for (const ids of inParts(rows.map((row) => row.key_id))) {
			const keyRows = await admin.db.selectFrom("keys").select(["id", "description", "last6"]).where("id", "in", ids).execute();
			for (const { id, description, last6 } of keyRows) keys.set(id, { description, last6 });
		}
	}
	if (by.includes("account")) {
		for (const ids of inParts(rows.map((row) => row.account_id))) {
			const accountRows = await admin.db.selectFrom("accounts").select(["id", "name"]).where("id", "in", ids).execute();
			for (const { id, name } of accountRows) accounts.set(id, name);
		}
	}
	return {
		key: (id: string) => keys.get(id) ?? { description: "", last6: "" },
		account: (id: string) => accounts.get(id) ?? "",
	};
}

const AT_ONCE = 500;

function* inParts(ids: readonly (string | null)[]): Generator<string[]> {
	const all = [...new Set(ids)].filter((id): id is string => id !== null && id !== "");
	for (let start = 0; start < all.length; start += AT_ONCE) yield all.slice(start, start + AT_ONCE);
}
