import { randomUUID } from "node:crypto";
import type { Transaction } from "kysely";
import { type Nano, nano } from "../../ledger/nano.ts";
import { ISSUED, type Tables } from "../tables.ts";
import { amountToMove } from "./amounts.ts";
import { noteChange } from "./changes.ts";
import { requireAccount } from "./find-account.ts";
import { type BookedOnce, findBooked, type MoneyRequest } from "./money-request.ts";
import { issue } from "./movements.ts";
import type { AdminStore } from "./open-admin.ts";
import { checkReference, refuseOtherUse } from "./references.ts";

/**
 * Adds USD to an account, once for each reference. A repeat returns the first credit, `replayed`. Throws
 * `AdminError`: NOT_FOUND, INVALID (amount, reference, a balance that would be too large), REFERENCE_USED (the
 * reference names another account or amount, a debit or a refund).
 */
export async function credit(admin: AdminStore, request: MoneyRequest): Promise<BookedOnce> {
	const { accountId } = request;
	const amount = amountToMove(request.amount, "credit");
	const reference = checkReference(request.reference ?? `credit-${randomUUID()}`);
	return admin.db.transaction().execute(async (tx) => {
		const replay = await findBooked(tx, "credits", reference, accountId, amount);
		if (replay !== null) return replay;
		await refuseOtherUse(tx, reference, "credits");
		await requireAccount(tx, accountId);
		const atMs = admin.wallMs();
		const balance = nano(Number((await addCredit(tx, accountId, amount, reference, atMs)).balance));
		return { accountId, reference, amount, balance, balanceAfter: balance, bookedAtMs: atMs, replayed: false };
	});
}

/** Adds a credit inside the caller's transaction. */
export async function addCredit(tx: Transaction<Tables>, accountId: string, amount: Nano, reference: string, atMs: number) {
	const booked = await issue(tx, { kind: "credit", from: ISSUED, accountId, source: "usd", amount, atMs });
	await tx
		.insertInto("credits")
		.values({ reference, account_id: accountId, amount, movement_id: booked.movementId, created_at: atMs })
		.execute();
	await noteChange(tx, { kind: "account", accountId }, atMs);
	return booked;
}
