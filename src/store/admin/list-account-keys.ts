import { keyOf } from "../core/caller-rows.ts";
import { activeKeyCount, activeKeys } from "./active-keys.ts";
import { type KeyWithUsage, withUsage } from "./key-usage.ts";
import type { AdminStore } from "./open-admin.ts";

export interface ListAccountKeys {
	readonly accountId: string;
	/** The caller's time in Unix milliseconds, which decides which keys are active, and the windows of their usage. */
	readonly nowMs: number;
	/** Left out: all. */
	readonly page?: { readonly offset: number; readonly limit: number };
}

export interface AccountKeys {
	readonly keys: readonly KeyWithUsage[];
	/** Number of the account's active keys on all pages. */
	readonly total: number;
}

/** Returns the active keys of an account, newest first, with what they have spent. */
export function listAccountKeys(admin: AdminStore, input: ListAccountKeys): Promise<AccountKeys> {
	const { accountId, nowMs, page } = input;
	return admin.db
		.transaction()
		.setAccessMode("read only")
		.execute(async (tx) => {
			const total = await activeKeyCount(tx, accountId, nowMs);
			let query = activeKeys(tx, accountId, nowMs).selectAll().orderBy("created_at", "desc").orderBy("id");
			if (page !== undefined) query = query.limit(page.limit).offset(page.offset);
			const rows = await query.execute();
			return { keys: await withUsage(tx, rows.map(keyOf), nowMs), total };
		});
}
