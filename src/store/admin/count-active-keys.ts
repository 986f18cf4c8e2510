import { activeKeyCount } from "./active-keys.ts";
import type { AdminStore } from "./open-admin.ts";

/** Returns the number of an account's keys that are neither revoked nor expired at `nowMs`. */
export function countActiveKeys(
	admin: AdminStore,
	input: { readonly accountId: string; readonly nowMs: number },
): Promise<number> {
	return activeKeyCount(admin.db, input.accountId, input.nowMs);
}
