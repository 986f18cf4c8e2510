import { sql } from "kysely";
import type { AdminStore } from "../admin/open-admin.ts";
import type { StoreDb } from "../tables.ts";

export interface UsageSumsQuery {
	readonly accountId: string;
	/** null: all keys of the account, and usage without a key. */
	readonly keyId: string | null;
	/** UTC day numbers, both included. */
	readonly firstDay: number;
	readonly lastDay: number;
	/** How many keys are listed day by day: those that spent most. */
	readonly topKeys: number;
}

/** Nano-USD (including bundled credit) and nano-diem; units as the skus count them, including free usage. */
export interface UsageSum {
	readonly usd: number;
	readonly diem: number;
	readonly units: number;
}

/** A key's usage; `id` is null for usage without a key. */
export interface KeySum extends UsageSum {
	readonly id: string | null;
	readonly description: string;
	readonly last6: string;
}

export interface UsageSums {
	readonly byDay: readonly (UsageSum & { readonly day: number })[];
	readonly bySku: readonly (UsageSum & { readonly sku: string })[];
	/** Highest spending first. */
	readonly byKey: readonly KeySum[];
	readonly diemBySkuDay: readonly { readonly day: number; readonly sku: string; readonly diem: number }[];
	/** Diem of the keys that spent most. */
	readonly diemByKeyDay: readonly { readonly day: number; readonly id: string | null; readonly diem: number }[];
}

/** Returns what an account used on some days, from the daily sums, without reading the journal. */
export function usageSums(admin: AdminStore, query: UsageSumsQuery): Promise<UsageSums> {
	return admin.db
		.transaction()
		.setAccessMode("read only")
		.execute(async (tx) => {
			const usage = usageOf(tx, query);
			const days = await usage
				.select(["day", ...SUMS])
				.groupBy("day")
				.orderBy("day")
				.execute();
			const skus = await usage
				.select(["sku", ...SUMS])
				.groupBy("sku")
				.execute();
			const keys = await usage
				.select(["key_id", ...SUMS])
				.groupBy("key_id")
				.execute();
			const names = await tx
				.selectFrom("keys")
				.select(["id", "description", "last6"])
				.where("account_id", "=", query.accountId)
				.execute();
			const nameById = new Map(names.map((name) => [name.id, name]));
			const byKey = keys
				.map((row) => ({
					id: row.key_id === "" ? null : row.key_id,
					description: nameById.get(row.key_id)?.description ?? "",
					last6: nameById.get(row.key_id)?.last6 ?? "",
					...sumOf(row),
				}))
				.sort((a, b) => b.usd + b.diem - (a.usd + a.diem));
			const ofDiem = usage.where("unit", "=", "diem");
			const skuDays = await ofDiem.select(["day", "sku", DIEM]).groupBy(["day", "sku"]).execute();
			const top = byKey.slice(0, query.topKeys).map((key) => key.id ?? "");
			const keyDays =
				top.length === 0
					? []
					: await ofDiem.where("key_id", "in", top).select(["day", "key_id", DIEM]).groupBy(["day", "key_id"]).execute();
			return {
				byDay: days.map((row) => ({ day: Number(row.day), ...sumOf(row) })),
				bySku: skus.map((row) => ({ sku: row.sku, ...sumOf(row) })),
				byKey,
				diemBySkuDay: skuDays.map((row) => ({ day: Number(row.day), sku: row.sku, diem: Number(row.diem ?? 0) })),
				diemByKeyDay: keyDays.map((row) => ({
					day: Number(row.day),
					id: row.key_id === "" ? null : row.key_id,
					diem: Number(row.diem ?? 0),
				})),
			};
		});
}

type SqlSum = bigint | string | null;
const DIEM = sql<SqlSum>`sum(CASE unit WHEN 'diem' THEN amount ELSE 0 END)`.as("diem");
const SUMS = [
	sql<SqlSum>`sum(CASE WHEN unit IN ('usd', 'bundled') THEN amount ELSE 0 END)`.as("usd"),
	DIEM,
	sql<SqlSum>`sum(units)`.as("units"),
] as const;

/** Sums key by key: each is then a range of days of the table's primary key, whatever the age of the account. */
function usageOf(tx: StoreDb, { accountId, keyId, firstDay, lastDay }: UsageSumsQuery) {
	const ofDays = tx
		.selectFrom("usage_daily")
		.where("account_id", "=", accountId)
		.where("day", ">=", BigInt(firstDay))
		.where("day", "<=", BigInt(lastDay));
	if (keyId !== null) return ofDays.where("key_id", "=", keyId);
	return ofDays.where(
		"key_id",
		"in",
		tx
			.selectFrom("keys")
			.select("id")
			.where("account_id", "=", accountId)
			.unionAll(tx.selectNoFrom(sql<string>`''`.as("id"))),
	);
}

function sumOf(row: { usd: SqlSum; diem: SqlSum; units: SqlSum }): UsageSum {
	return { usd: Number(row.usd ?? 0), diem: Number(row.diem ?? 0), units: Number(row.units ?? 0) };
}
