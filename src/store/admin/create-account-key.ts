import type { Transaction } from "kysely";
import type { Tables } from "../tables.ts";
import type { ApiKey } from "../types.ts";
import { activeKeyCount } from "./active-keys.ts";
import { AdminError } from "./errors.ts";
import { checkNewKey, insertKey, type NewKey } from "./keys.ts";
import type { AdminStore } from "./open-admin.ts";

export interface NewAccountKey extends NewKey {
	/** Most active keys of the account, including the new one. */
	readonly maxActiveKeys: number;
	/** The caller's time in Unix milliseconds, which decides which keys are active. */
	readonly nowMs: number;
}

/**
 * Creates a key, up to the account's limit of active keys. Throws `AdminError`: NOT_FOUND (account), INVALID,
 * CONFLICT (the same key exists).
 */
export async function createAccountKey(admin: AdminStore, input: NewAccountKey): Promise<ApiKey> {
	checkNewKey(input);
	return admin.db.transaction().execute((tx) => insertAccountKey(tx, input, admin.wallMs()));
}

/** Does as `createAccountKey`, inside a transaction of the caller; the input is already checked. */
export async function insertAccountKey(tx: Transaction<Tables>, input: NewAccountKey, atMs: number): Promise<ApiKey> {
	const active = await activeKeyCount(tx, input.accountId, input.nowMs);
	if (active >= input.maxActiveKeys) {
		throw new AdminError("INVALID", `an account has at most ${input.maxActiveKeys} active keys; delete one first`);
	}
	return insertKey(tx, input, atMs);
}
