import type { Transaction } from "kysely";
import type { Tables } from "../../tables.ts";
import { ownName } from "../../wallet-callers.ts";
import { checkedAccount } from "../accounts.ts";
import { noteChange } from "../changes.ts";
import { addCredit } from "../credit.ts";
import { AdminError } from "../errors.ts";
import type { AdminStore } from "../open-admin.ts";
import { requireRow, type TopUp } from "./top-up-row.ts";

/** The transfer with which the chain proves a payment. */
export interface ProvenTransfer {
	readonly transaction: string;
	readonly block: number;
	readonly logIndex: number;
}

export interface CreditTopUp extends ProvenTransfer {
	readonly id: string;
	/** Identity of the wallet's account; its first credit creates the account. */
	readonly identity: string;
}

/**
 * Credits a payment, once: account, money and the end of the payment are one transaction. A repeat returns the
 * payment unchanged. Throws `AdminError`: NOT_FOUND, CONFLICT (it has failed for good), INVALID (past the largest
 * balance).
 */
export function creditTopUp(admin: AdminStore, input: CreditTopUp): Promise<TopUp> {
	const insertAccount = checkedAccount({ name: input.identity, identity: input.identity });
	return admin.db.transaction().execute(async (tx) => {
		const topUp = await requireRow(tx, input.id);
		if (topUp.state === "credited") return topUp;
		if (topUp.state === "failed") throw new AdminError("CONFLICT", `the top-up ${input.id} has failed: ${topUp.reason}`);
		const atMs = admin.wallMs();
		const accountId = (await accountOfWallet(tx, input.identity)) ?? (await insertAccount(tx, atMs, false)).id;
		const { movementId } = await addCredit(tx, accountId, topUp.amount, topUp.id, atMs);
		// Nodes may have cached the wallet as one without an account.
		const name = ownName(input.identity);
		await noteChange(tx, { kind: "key", keyId: name, accountId, hash: name }, atMs);
		await tx
			.updateTable("top_ups")
			.set({
				state: "credited",
				transaction_hash: input.transaction,
				log_index: input.logIndex,
				block: input.block,
				account_id: accountId,
				movement_id: movementId,
				ended_at: atMs,
			})
			.where("id", "=", input.id)
			.execute();
		return requireRow(tx, input.id);
	});
}

/** Returns null where the wallet never topped up. */
async function accountOfWallet(tx: Transaction<Tables>, identity: string): Promise<string | null> {
	const row = await tx.selectFrom("accounts").select("id").where("identity", "=", identity).executeTakeFirst();
	return row?.id ?? null;
}
