import { randomInt } from "node:crypto";
import type { Transaction } from "kysely";
import { parseNano } from "../../ledger/nano.ts";
import type { Account, AccountTier } from "../port.ts";
import type { Tables } from "../tables.ts";
import { noteChange } from "./changes.ts";
import { addCredit, creditAmount } from "./credit.ts";
import { AdminError } from "./errors.ts";
import { requireAccount } from "./find-account.ts";
import { checkNewKey, insertKey, type NewKey } from "./keys.ts";

export interface NewAccount {
	readonly name: string;
	readonly tier?: AccountTier;
	/** USD as decimal text; "0" or left out: none. */
	readonly startingCreditUsd?: string;
	/** A key that comes with the account, in the same transaction. */
	readonly firstKey?: Omit<NewKey, "accountId">;
}

const TIERS: readonly AccountTier[] = ["paid", "partner", "staff"];
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ID_LENGTH = 24;
const NAME_LENGTH = 200;

/** Checks the input, before any transaction, and returns what books it. Throws `AdminError` (INVALID). */
export function checkedAccount(
	input: NewAccount,
): (tx: Transaction<Tables>, atMs: number, operator: boolean) => Promise<Account> {
	const name = input.name.trim();
	if (name === "" || name.length > NAME_LENGTH) throw new AdminError("INVALID", `a name has 1 to ${NAME_LENGTH} characters`);
	const tier = checkTier(input.tier ?? "paid");
	const starting = parseNano(input.startingCreditUsd ?? "0") === 0 ? null : creditAmount(input.startingCreditUsd ?? "0");
	const id = `acc_${Array.from({ length: ID_LENGTH }, () => BASE62[randomInt(BASE62.length)]).join("")}`;
	const firstKey = input.firstKey === undefined ? null : { ...input.firstKey, accountId: id };
	if (firstKey !== null) checkNewKey(firstKey);
	return async (tx, atMs, operator) => {
		await tx
			.insertInto("accounts")
			.values({ id, name, tier, disabled: 0, operator: Number(operator), wallet: null, created_at: atMs })
			.execute();
		await tx.insertInto("budgets").values({ account_id: id, source: "usd", day: 0, balance: 0, leased: 0 }).execute();
		if (starting !== null) await addCredit(tx, id, starting, `starting-credit:${id}`, atMs);
		else await noteChange(tx, { kind: "account", accountId: id }, atMs);
		if (firstKey !== null) await insertKey(tx, firstKey, atMs);
		return requireAccount(tx, id);
	};
}

/** Throws `AdminError` (INVALID). */
export function checkTier(tier: AccountTier): AccountTier {
	if (!TIERS.includes(tier)) throw new AdminError("INVALID", `a tier is one of ${TIERS.join(", ")}`);
	return tier;
}
