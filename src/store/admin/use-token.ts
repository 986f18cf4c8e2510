import type { Kysely } from "kysely";
import type { Tables } from "../tables.ts";
import type { AdminStore } from "./open-admin.ts";

/** What serves once: by a name that nothing else has, until it expires anyway. */
export interface OnceToken {
	readonly id: string;
	/** Unix milliseconds. */
	readonly expiresAtMs: number;
}

/** Old tokens that one call removes at most: no call pays for a long time without any. */
const FORGOTTEN_AT_ONCE = 100;

/**
 * Whether a token serves for the first time, on any node; it does no more after this. Where the store failed and the
 * call is run again, a token may count as used though its first answer was lost: it never serves twice.
 */
export function useToken(admin: AdminStore, input: OnceToken & { readonly nowMs: number }): Promise<boolean> {
	return admin.db.transaction().execute((tx) => takeToken(tx, input, input.nowMs));
}

/** The same inside a transaction. */
export async function takeToken(db: Kysely<Tables>, { id, expiresAtMs }: OnceToken, nowMs: number): Promise<boolean> {
	const expired = db.selectFrom("used_tokens").select("id").where("expires_at", "<=", BigInt(nowMs)).limit(FORGOTTEN_AT_ONCE);
	await db.deleteFrom("used_tokens").where("id", "in", expired).execute();
	const inserted = await db
		.insertInto("used_tokens")
		.values({ id, expires_at: expiresAtMs })
		.onConflict((conflict) => conflict.doNothing())
		.returning("id")
		.executeTakeFirst();
	return inserted !== undefined;
}
