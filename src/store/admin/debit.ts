import { randomUUID } from "node:crypto";
import { nano } from "../../ledger/nano.ts";
import { amountToMove } from "./amounts.ts";
import { noteChange } from "./changes.ts";
import { requireAccount } from "./find-account.ts";
import { type BookedOnce, findBooked, type MoneyRequest } from "./money-request.ts";
import { withdraw } from "./movements.ts";
import type { AdminStore } from "./open-admin.ts";
import { checkReference, refuseOtherUse } from "./references.ts";

/**
 * Takes free USD back from an account, once for each reference: for a charged-back payment or a mistaken credit. A
 * repeat returns the first debit, `replayed`. Throws `AdminError`: NOT_FOUND, INVALID (amount, reference, more than
 * the account has), REFERENCE_USED, MONEY_LEASED (see recall-money.ts).
 */
export async function debit(admin: AdminStore, request: MoneyRequest): Promise<BookedOnce> {
	const { accountId } = request;
	const amount = amountToMove(request.amount, "debit");
	const reference = checkReference(request.reference ?? `debit-${randomUUID()}`);
	return admin.db.transaction().execute(async (tx) => {
		const replay = await findBooked(tx, "debits", reference, accountId, amount);
		if (replay !== null) return replay;
		await refuseOtherUse(tx, reference, "debits");
		await requireAccount(tx, accountId);
		const atMs = admin.wallMs();
		const booked = await withdraw(tx, accountId, "usd", amount, atMs);
		await tx
			.insertInto("debits")
			.values({ reference, account_id: accountId, amount, movement_id: booked.movementId, created_at: atMs })
			.execute();
		await noteChange(tx, { kind: "account", accountId }, atMs);
		const balance = nano(Number(booked.balance));
		return { accountId, reference, amount, balance, balanceAfter: balance, bookedAtMs: atMs, replayed: false };
	});
}
