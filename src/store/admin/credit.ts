import { randomUUID } from "node:crypto";
import type { Transaction } from "kysely";
import { formatNano, type Nano, nano, parseNano } from "../../ledger/nano.ts";
import type { Tables } from "../tables.ts";
import { noteChange } from "./changes.ts";
import { AdminError } from "./errors.ts";
import { requireAccount } from "./find-account.ts";
import { balanceOf, issue, MAX_CREDIT_NANO } from "./movements.ts";
import type { AdminStore } from "./open-admin.ts";

export interface CreditRequest {
	readonly accountId: string;
	/** USD as decimal text: digits, at most 9 places, no sign, no exponent. */
	readonly amount: string;
	/** Names the payment: a second credit under it changes nothing. Left out, the credit gets a name of its own. */
	readonly reference?: string;
}

export interface Credited {
	readonly accountId: string;
	readonly reference: string;
	readonly amount: Nano;
	/** USD balance of the account now. */
	readonly balance: Nano;
	/** True where the reference was credited before, and nothing was added now. */
	readonly replayed: boolean;
}

const REFERENCE = /^[\x21-\x7e]{1,200}$/;

/**
 * Adds USD to an account, once for each reference. A repeat answers with the first, `replayed`.
 * Throws `AdminError`: NOT_FOUND, INVALID (amount, reference, a balance that would be too large), CONFLICT (the
 * reference was used for another account or amount).
 */
export async function credit(admin: AdminStore, request: CreditRequest): Promise<Credited> {
	const amount = creditAmount(request.amount);
	const reference = request.reference ?? `credit-${randomUUID()}`;
	if (!REFERENCE.test(reference)) {
		throw new AdminError("INVALID", "a reference has 1 to 200 printable ASCII characters without spaces");
	}
	return admin.db.transaction().execute(async (tx) => {
		const replay = await findCredit(tx, reference, request.accountId, amount);
		if (replay !== null) return replay;
		await requireAccount(tx, request.accountId);
		const { balance } = await addCredit(tx, request.accountId, amount, reference, admin.now());
		return { accountId: request.accountId, reference, amount, balance: nano(Number(balance)), replayed: false };
	});
}

/** A credit amount from its text. Throws `AdminError`. */
export function creditAmount(text: string): Nano {
	const amount = parseNano(text);
	if (amount === undefined) {
		throw new AdminError("INVALID", `not an amount: ${JSON.stringify(text)}; write digits with at most 9 places, like 12.50`);
	}
	if (amount === 0) throw new AdminError("INVALID", "a credit is more than 0");
	if (amount > MAX_CREDIT_NANO) {
		throw new AdminError("INVALID", `a credit is at most ${formatNano(MAX_CREDIT_NANO, 0)} USD`);
	}
	return amount;
}

/** Books a credit inside the caller's transaction. */
export async function addCredit(tx: Transaction<Tables>, accountId: string, amount: Nano, reference: string, atMs: number) {
	const booked = await issue(tx, "credit", accountId, "usd", amount, atMs);
	await tx
		.insertInto("credits")
		.values({ reference, account_id: accountId, amount, movement_id: booked.movementId, created_at: atMs })
		.execute();
	await noteChange(tx, { kind: "account", accountId }, atMs);
	return booked;
}

async function findCredit(tx: Transaction<Tables>, reference: string, accountId: string, amount: Nano): Promise<Credited | null> {
	const first = await tx.selectFrom("credits").selectAll().where("reference", "=", reference).executeTakeFirst();
	if (first === undefined) return null;
	if (first.account_id !== accountId || first.amount !== BigInt(amount)) {
		const was = `${formatNano(first.amount)} USD to ${first.account_id}`;
		throw new AdminError("CONFLICT", `the reference ${reference} was used before, for ${was}`);
	}
	const { balance } = await balanceOf(tx, accountId, "usd");
	return { accountId, reference, amount, balance: nano(Number(balance)), replayed: true };
}
