/**
 * Folds old days of `usage_daily` into one day, 0, key by key: a key's lifetime usage stays right, the days are lost.
 * Each call makes a bounded step; the progress is in the store.
 */
import { type SqlBool, sql, type Transaction } from "kysely";
import type { AdminStore } from "../admin/open-admin.ts";
import type { Tables } from "../tables.ts";

export interface FoldUsageOrder {
	/** The first UTC day that is not folded. */
	readonly beforeDay: number;
	/** Most keys per step. */
	readonly keysAStep?: number;
}

const KEYS_A_STEP = 50;
/** Past this many rows a step ends after the current key. */
const ROWS_A_STEP = 2_000;

/** Makes one step; returns false where nothing is left. Throws errors of the store. */
export function foldUsageStep(admin: AdminStore, { beforeDay, keysAStep }: FoldUsageOrder): Promise<boolean> {
	return admin.db.transaction().execute(async (tx) => {
		let fold = await tx.selectFrom("usage_folds").selectAll().where("id", "=", 1n).executeTakeFirst();
		if (fold === undefined || (fold.done === 1n && fold.before_day < BigInt(beforeDay))) {
			// Written before the first row moves, so that the audit knows which days may be folded.
			const initialFold = { before_day: beforeDay, account_id: "", key_id: "", done: 0 };
			fold = await tx
				.insertInto("usage_folds")
				.values({ id: 1, ...initialFold })
				.onConflict((conflict) => conflict.column("id").doUpdateSet(initialFold))
				.returningAll()
				.executeTakeFirstOrThrow();
		}
		if (fold.done === 1n) return false;
		let place: Place | undefined = { account_id: fold.account_id, key_id: fold.key_id };
		let rows = 0;
		for (let keys = 0; keys < (keysAStep ?? KEYS_A_STEP) && rows < ROWS_A_STEP; keys++) {
			const next = await nextKey(tx, place);
			if (next === undefined) {
				await tx.updateTable("usage_folds").set({ done: 1 }).where("id", "=", 1n).execute();
				return true;
			}
			rows += await foldKey(tx, next, fold.before_day);
			place = next;
		}
		await tx.updateTable("usage_folds").set(place).where("id", "=", 1n).execute();
		return true;
	});
}

interface Place {
	readonly account_id: string;
	readonly key_id: string;
}

/** Returns the next account and key with usage, by the primary key. */
function nextKey(tx: Transaction<Tables>, { account_id, key_id }: Place): Promise<Place | undefined> {
	return tx
		.selectFrom("usage_daily")
		.select(["account_id", "key_id"])
		.where(sql<SqlBool>`(account_id, key_id) > (${account_id}, ${key_id})`)
		.orderBy("account_id")
		.orderBy("key_id")
		.limit(1)
		.executeTakeFirst();
}

async function foldKey(tx: Transaction<Tables>, { account_id, key_id }: Place, beforeDay: bigint): Promise<number> {
	const deletedRows = await tx
		.deleteFrom("usage_daily")
		.where("account_id", "=", account_id)
		.where("key_id", "=", key_id)
		.where("day", ">", 0n)
		.where("day", "<", beforeDay)
		.returning(["unit", "sku", "amount", "units", "rows"])
		.execute();
	for (const skuRows of Map.groupBy(deletedRows, (row) => `${row.unit} ${row.sku}`).values()) {
		const [first] = skuRows;
		if (first === undefined) continue;
		const sum = (of: "amount" | "units" | "rows") => skuRows.reduce((total, row) => total + row[of], 0n);
		await tx
			.insertInto("usage_daily")
			.values({
				account_id,
				key_id,
				day: 0,
				unit: first.unit,
				sku: first.sku,
				amount: sum("amount"),
				units: sum("units"),
				rows: sum("rows"),
			})
			.onConflict((conflict) =>
				conflict.columns(["account_id", "key_id", "day", "unit", "sku"]).doUpdateSet({
					amount: sql`usage_daily.amount + excluded.amount`,
					units: sql`usage_daily.units + excluded.units`,
					rows: sql`usage_daily.rows + excluded.rows`,
				}),
			)
			.execute();
	}
	return deletedRows.length;
}
