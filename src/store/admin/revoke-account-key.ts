import { noteChange } from "./changes.ts";
import { requireAccountKey } from "./find-account-key.ts";
import type { AdminStore } from "./open-admin.ts";

/** Revokes a key of an account for good. Throws `AdminError` (NOT_FOUND), also where it was revoked before. */
export async function revokeAccountKey(
	admin: AdminStore,
	input: { readonly accountId: string; readonly keyId: string },
): Promise<void> {
	const { accountId, keyId } = input;
	await admin.db.transaction().execute(async (tx) => {
		const { hash } = await requireAccountKey(tx, accountId, keyId);
		await tx.updateTable("keys").set({ revoked_at: admin.wallMs() }).where("id", "=", keyId).execute();
		await noteChange(tx, { kind: "key", keyId, accountId, hash }, admin.wallMs());
	});
}
