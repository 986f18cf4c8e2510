import type { Selectable } from "kysely";
import type { StoreDb, Tables } from "../tables.ts";
import { AdminError } from "./errors.ts";

/**
 * Returns a key of the account that is not revoked, expired or not. Throws `AdminError` (NOT_FOUND), with the same
 * message for a key of another account, so that nobody learns which ids exist.
 */
export async function requireAccountKey(tx: StoreDb, accountId: string, keyId: string): Promise<Selectable<Tables["keys"]>> {
	const row = await tx
		.selectFrom("keys")
		.selectAll()
		.where("id", "=", keyId)
		.where("account_id", "=", accountId)
		.where("revoked_at", "is", null)
		.executeTakeFirst();
	if (row === undefined) throw new AdminError("NOT_FOUND", "there is no such key");
	return row;
}
