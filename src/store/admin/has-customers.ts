import type { AdminStore } from "./open-admin.ts";

/** Returns true where the store has an account other than the operator's. */
export async function hasCustomers(admin: AdminStore, _input: Readonly<Record<string, never>>): Promise<boolean> {
	const row = await admin.db.selectFrom("accounts").select("id").where("operator", "=", 0n).limit(1).executeTakeFirst();
	return row !== undefined;
}
