import { randomBytes } from "node:crypto";
import type { AdminStore } from "./open-admin.ts";

/** The purpose of a secret of the store; each has its own. */
export type SecretName = "console-session" | "usage-cursor" | "wallet-entry" | "web3-key-token";

/**
 * Returns 32 random bytes as lower-case hex, created at the first call: the same for all nodes, and after a restart.
 */
export async function sharedSecret(admin: AdminStore, input: { readonly name: SecretName }): Promise<string> {
	const name = `secret:${input.name}`;
	const existingSecret = await admin.db.selectFrom("meta").select("value").where("name", "=", name).executeTakeFirst();
	if (existingSecret !== undefined) return existingSecret.value;
	return admin.db.transaction().execute(async (tx) => {
		const value = randomBytes(32).toString("hex");
		await tx
			.insertInto("meta")
			.values({ name, value })
			.onConflict((conflict) => conflict.doNothing())
			.execute();
		const row = await tx.selectFrom("meta").select("value").where("name", "=", name).executeTakeFirstOrThrow();
		return row.value;
	});
}
