import type { Transaction } from "kysely";
import { parseNano } from "../../ledger/nano.ts";
import { ACCOUNT_ID, createAccountId } from "../account-id.ts";
import type { StoreDb, Tables } from "../tables.ts";
import type { Account, AccountTier } from "../types.ts";
import { checkName, checkTier } from "./account-fields.ts";
import { type AccountView, requireView } from "./account-view.ts";
import { amountToMove } from "./amounts.ts";
import { noteChange } from "./changes.ts";
import { addCredit } from "./credit.ts";
import { AdminError } from "./errors.ts";
import { requireAccount } from "./find-account.ts";
import { checkNewKey, insertKey, type NewKey } from "./keys.ts";
import type { AdminStore } from "./open-admin.ts";

export interface NewAccount {
	/** Left out: a new one (`newAccountId`). */
	readonly id?: string;
	readonly name: string;
	readonly tier?: AccountTier;
	/** Identity of a wallet that pays with a balance of its own. */
	readonly identity?: string;
	/** USD as decimal text; "0" or left out: none. */
	readonly startingCreditUsd?: string;
	/** A key that is created with the account, in the same transaction. */
	readonly firstKey?: Omit<NewKey, "accountId">;
}

/** Returns true for a store without accounts. */
export async function isEmpty(admin: AdminStore): Promise<boolean> {
	return !(await hasAccount(admin.db));
}

async function hasAccount(db: StoreDb): Promise<boolean> {
	return (await db.selectFrom("accounts").select("id").limit(1).executeTakeFirst()) !== undefined;
}

/** Creates an account; the first one of a store is the operator's. Throws `AdminError` (INVALID). */
export async function createAccount(admin: AdminStore, input: NewAccount): Promise<Account> {
	const insert = checkedAccount(input);
	return admin.db.transaction().execute(async (tx) => insert(tx, admin.wallMs(), !(await hasAccount(tx))));
}

/**
 * Creates an account under an id, once: a repeat returns the current account, `replayed`. Throws `AdminError`:
 * INVALID, REFERENCE_USED (the account with this id has another name or began with another credit).
 */
export async function createAccountOnce(
	admin: AdminStore,
	input: NewAccount & { readonly id: string },
): Promise<{ readonly account: AccountView; readonly replayed: boolean }> {
	const insert = checkedAccount(input);
	return admin.db.transaction().execute(async (tx) => {
		const existing = await tx.selectFrom("accounts").select("name").where("id", "=", input.id).executeTakeFirst();
		if (existing === undefined) await insert(tx, admin.wallMs(), !(await hasAccount(tx)));
		else if (
			existing.name !== checkName(input.name) ||
			(await startingCredit(tx, input.id)) !== parseNano(input.startingCreditUsd ?? "0")
		) {
			throw new AdminError("REFERENCE_USED", `the account ${input.id} was made before, with another name or credit`);
		}
		return { account: await requireView(tx, input.id, admin.wallMs()), replayed: existing !== undefined };
	});
}

async function startingCredit(tx: StoreDb, accountId: string): Promise<number> {
	const row = await tx
		.selectFrom("credits")
		.select("amount")
		.where("reference", "=", startingReference(accountId))
		.executeTakeFirst();
	return Number(row?.amount ?? 0n);
}

/**
 * Creates the operator's account on a store without accounts; null on any other. Of several nodes that start
 * together, one creates it.
 */
export async function createFirstAccount(admin: AdminStore, input: NewAccount): Promise<Account | null> {
	const insert = checkedAccount(input);
	return admin.db.transaction().execute(async (tx) => ((await hasAccount(tx)) ? null : insert(tx, admin.wallMs(), true)));
}

/** Checks the input before any transaction, and returns the function that writes it. Throws `AdminError` (INVALID). */
export function checkedAccount(
	input: NewAccount,
): (tx: Transaction<Tables>, atMs: number, operator: boolean) => Promise<Account> {
	const name = checkName(input.name);
	const tier = checkTier(input.tier ?? "paid");
	const entered = input.startingCreditUsd ?? "0";
	const starting = parseNano(entered) === 0 ? null : amountToMove(entered, "credit");
	const { id = createAccountId(), identity = null } = input;
	if (!ACCOUNT_ID.test(id)) throw new AdminError("INVALID", "an account's id is acc_ and 24 letters and digits");
	const firstKey = input.firstKey === undefined ? null : { ...input.firstKey, accountId: id };
	if (firstKey !== null) checkNewKey(firstKey);
	return async (tx, atMs, operator) => {
		await tx
			.insertInto("accounts")
			.values({ id, name, tier, disabled: 0, operator: Number(operator), wallet: null, identity, created_at: atMs })
			.execute();
		await tx.insertInto("budgets").values({ account_id: id, source: "usd", day: 0, balance: 0, leased: 0 }).execute();
		if (starting !== null) await addCredit(tx, id, starting, startingReference(id), atMs);
		else await noteChange(tx, { kind: "account", accountId: id }, atMs);
		if (firstKey !== null) await insertKey(tx, firstKey, atMs);
		return requireAccount(tx, id);
	};
}

function startingReference(accountId: string): string {
	return `starting-credit:${accountId}`;
}
