import { sql, type Transaction } from "kysely";
import type { Tables } from "../tables.ts";
import { ERASED_NAME } from "./account-fields.ts";
import { noteChange } from "./changes.ts";
import { AdminError } from "./errors.ts";
import { requireAccount } from "./find-account.ts";
import type { AdminStore } from "./open-admin.ts";
import { deleteVoicesOf } from "./voices/change-voice.ts";
import { linkWallet } from "./wallets.ts";

export interface ErasedAccount {
	readonly accountId: string;
	/** Number of keys that it revoked. */
	readonly endedKeys: number;
}

/**
 * Removes personal data of an account: its name, its wallet, the descriptions, addresses and access limits of its
 * keys, the log of refused requests, answers stored for repeats, and voices with their samples. Its keys are revoked,
 * and it is disabled. Usage and payments stay in the books under its id alone. The notice that names its wallet is
 * deleted with the others, after 30 days. A repeat changes nothing. A disabled wallet's own account keeps its row
 * under the wallet's identity: otherwise the wallet would return as an unknown one, without its block.
 *
 * Throws `AdminError`: NOT_FOUND, INVALID (the operator's own account).
 */
export function eraseAccount(admin: AdminStore, accountId: string): Promise<ErasedAccount> {
	return admin.db.transaction().execute(async (tx) => {
		const atMs = admin.wallMs();
		const account = await requireAccount(tx, accountId);
		if (account.operator) throw new AdminError("INVALID", "the operator's account is not erased");
		await linkWallet(tx, accountId, null, atMs);
		await tx
			.updateTable("accounts")
			.set({ name: ERASED_NAME, identity: account.disabled ? account.identity : null, disabled: 1 })
			.where("id", "=", accountId)
			.execute();
		const active = await tx
			.selectFrom("keys")
			.select(["id", "hash"])
			.where("account_id", "=", accountId)
			.where("revoked_at", "is", null)
			.execute();
		for (const { id: keyId, hash } of active) await noteChange(tx, { kind: "key", keyId, accountId, hash }, atMs);
		if (active.length > 0) {
			await tx
				.updateTable("keys")
				.set({ revoked_at: atMs })
				.where("account_id", "=", accountId)
				.where("revoked_at", "is", null)
				.execute();
		}
		await tx.updateTable("keys").set({ description: "", restrictions: null }).where("account_id", "=", accountId).execute();
		await tx.deleteFrom("exceeded_limits").where("account_id", "=", accountId).execute();
		// On SQLite large bodies are files: the running server removes those that no answer names.
		if (admin.shared) await deleteBodies(tx, accountId);
		await tx.deleteFrom("idempotency_answers").where("account_id", "=", accountId).execute();
		await deleteVoicesOf(tx, [accountId, ...(account.identity === null ? [] : [account.identity])]);
		await noteChange(tx, { kind: "account", accountId }, atMs);
		return { accountId, endedKeys: active.length };
	});
}

async function deleteBodies(tx: Transaction<Tables>, accountId: string): Promise<void> {
	await sql`DELETE FROM idempotency_bodies WHERE file IN (
		SELECT file FROM idempotency_answers WHERE account_id = ${accountId} AND file IS NOT NULL)`.execute(tx);
}
