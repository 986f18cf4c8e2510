import { accountOf } from "../core/caller-rows.ts";
import type { StoreDb } from "../tables.ts";
import type { Account } from "../types.ts";
import { AdminError } from "./errors.ts";

/** Returns the account, as it is in the caller's transaction. Throws `AdminError` (NOT_FOUND). */
export async function requireAccount(tx: StoreDb, accountId: string): Promise<Account> {
	const row = await tx.selectFrom("accounts").selectAll().where("id", "=", accountId).executeTakeFirst();
	if (row === undefined) throw new AdminError("NOT_FOUND", `there is no account ${accountId}`);
	return accountOf(row);
}
