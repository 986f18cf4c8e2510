/** A reference names one movement of money for good: a credit, a debit or a refund, over all accounts. */
import type { Transaction } from "kysely";
import type { Tables } from "../tables.ts";
import { AdminError } from "./errors.ts";

export type Referred = "credits" | "debits" | "refunds";

const TABLES: readonly Referred[] = ["credits", "debits", "refunds"];
const REFERENCE = /^[\x21-\x7e]{1,255}$/;

/** Throws `AdminError` (INVALID). */
export function checkReference(reference: string): string {
	if (REFERENCE.test(reference)) return reference;
	throw new AdminError("INVALID", "a reference has 1 to 255 printable ASCII characters without spaces");
}

/** Throws `AdminError` (REFERENCE_USED) where the reference names a movement of another kind. */
export async function refuseOtherUse(tx: Transaction<Tables>, reference: string, own: Referred): Promise<void> {
	for (const table of TABLES) {
		if (table === own) continue;
		const used = await tx.selectFrom(table).select("account_id").where("reference", "=", reference).limit(1).executeTakeFirst();
		if (used !== undefined) throw referenceUsed(reference, `a ${table.slice(0, -1)} of ${used.account_id}`);
	}
}

export function referenceUsed(reference: string, forWhat: string): AdminError {
	return new AdminError("REFERENCE_USED", `the reference ${reference} was used before, for ${forWhat}`);
}
