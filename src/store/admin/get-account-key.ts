import { keyOf } from "../core/caller-rows.ts";
import { requireAccountKey } from "./find-account-key.ts";
import { type KeyWithUsage, withUsage } from "./key-usage.ts";
import type { AdminStore } from "./open-admin.ts";

export interface GetAccountKey {
	readonly accountId: string;
	readonly keyId: string;
	/** The caller's time in Unix milliseconds, which decides the windows of its usage. */
	readonly nowMs: number;
}

/** Returns one key of an account with what it has spent. Throws `AdminError` (NOT_FOUND). */
export function getAccountKey(admin: AdminStore, input: GetAccountKey): Promise<KeyWithUsage> {
	return admin.db
		.transaction()
		.setAccessMode("read only")
		.execute(async (tx) => {
			const key = keyOf(await requireAccountKey(tx, input.accountId, input.keyId));
			const [used] = await withUsage(tx, [key], input.nowMs);
			if (used === undefined) throw new Error(`the usage of key ${key.id} was not read`);
			return used;
		});
}
