import type { Transaction } from "kysely";
import type { ApiKey } from "../port.ts";
import type { Tables } from "../tables.ts";
import { activeKeyCount } from "./active-keys.ts";
import { AdminError } from "./errors.ts";
import { checkNewKey, insertKey, type NewKey } from "./keys.ts";
import type { AdminStore } from "./open-admin.ts";

export interface NewAccountKey extends NewKey {
	/** The account may have this many active keys, the new one among them. */
	readonly maxActiveKeys: number;
	/** The caller's time, Unix milliseconds: decides which keys are active. */
	readonly nowMs: number;
}

/** Makes a key where the account has room for it. Throws `AdminError`: NOT_FOUND (account), INVALID, CONFLICT (the same key is there). */
export async function createAccountKey(admin: AdminStore, input: NewAccountKey): Promise<ApiKey> {
	checkNewKey(input);
	return admin.db.transaction().execute((tx) => insertAccountKey(tx, input, admin.wallMs()));
}

/** As `createAccountKey`, inside a transaction of the caller's; its input was checked. */
export async function insertAccountKey(tx: Transaction<Tables>, input: NewAccountKey, atMs: number): Promise<ApiKey> {
	const active = await activeKeyCount(tx, input.accountId, input.nowMs);
	if (active >= input.maxActiveKeys) {
		throw new AdminError("INVALID", `an account has at most ${input.maxActiveKeys} active keys; delete one first`);
	}
	return insertKey(tx, input, atMs);
}
