import type { Kysely } from "kysely";
import type { Tables } from "../tables.ts";
import type { AdminStore } from "./open-admin.ts";

/** A token that is valid once: under a unique name, until it expires anyway. */
export interface OnceToken {
	readonly id: string;
	/** Unix milliseconds. */
	readonly expiresAtMs: number;
}

/** Most old tokens that one call removes, so that no call pays for a long time without any. */
const FORGOTTEN_AT_ONCE = 100;

/**
 * Returns true where a token is used for the first time, on any node; it is invalid afterwards. Where the store
 * failed and the call is repeated, a token may count as used though its first answer was lost: it never works twice.
 */
export function useToken(admin: AdminStore, input: OnceToken & { readonly nowMs: number }): Promise<boolean> {
	return admin.db.transaction().execute((tx) => takeToken(tx, input, input.nowMs));
}

/** Does the same inside a transaction. */
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
