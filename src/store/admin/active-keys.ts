import type { StoreDb } from "../tables.ts";

/** Selects keys of one account that are neither revoked nor expired at `nowMs` (Unix milliseconds). */
export function activeKeys(db: StoreDb, accountId: string, nowMs: number) {
	return db
		.selectFrom("keys")
		.where("account_id", "=", accountId)
		.where("revoked_at", "is", null)
		.where((where) => where.or([where("expires_at", "is", null), where("expires_at", ">", BigInt(nowMs))]));
}

/** Returns the number of these keys. */
export async function activeKeyCount(db: StoreDb, accountId: string, nowMs: number): Promise<number> {
	const row = await activeKeys(db, accountId, nowMs)
		.select((select) => select.fn.countAll<number | bigint | string>().as("keys"))
		.executeTakeFirst();
	return Number(row?.keys ?? 0);
}
