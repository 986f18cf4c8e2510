import type { Transaction } from "kysely";
import { keyOf } from "../core/caller-rows.ts";
import type { Tables } from "../tables.ts";
import type { ApiKey, KeyLimits, KeyRestrictions, LimitPeriod } from "../types.ts";
import { noteChange } from "./changes.ts";
import { requireAccountKey } from "./find-account-key.ts";
import { checkKeyFields } from "./keys.ts";
import { mergeRestrictions } from "./merge-restrictions.ts";
import type { AdminStore } from "./open-admin.ts";

/**
 * Changes of a key; fields that are left out stay. In `limits` and `restrictions` given members replace, and null
 * clears.
 */
export interface KeyChanges {
	readonly limits?: Partial<KeyLimits>;
	readonly limitPeriod?: LimitPeriod;
	readonly description?: string;
	readonly expiresAtMs?: number | null;
	readonly restrictions?: Partial<KeyRestrictions> | null;
}

export interface UpdateAccountKey {
	readonly accountId: string;
	readonly keyId: string;
	readonly changes: KeyChanges;
}

/**
 * Applies all given changes of a key or none; an empty input changes nothing. Throws `AdminError`: NOT_FOUND,
 * INVALID.
 */
export async function updateAccountKey(admin: AdminStore, input: UpdateAccountKey): Promise<ApiKey> {
	const { accountId, keyId, changes } = input;
	checkKeyFields(changes);
	return admin.db.transaction().execute(async (tx) => {
		const row = await requireAccountKey(tx, accountId, keyId);
		const before = keyOf(row);
		if (Object.values(changes).every((change) => change === undefined)) return before;
		await writeChanges(tx, before, changes);
		await noteChange(tx, { kind: "key", keyId, accountId, hash: row.hash }, admin.wallMs());
		return keyOf(await requireAccountKey(tx, accountId, keyId));
	});
}

async function writeChanges(tx: Transaction<Tables>, before: ApiKey, changes: KeyChanges): Promise<void> {
	const limits = { ...before.limits, ...changes.limits };
	const restrictions =
		changes.restrictions === undefined ? before.restrictions : mergeRestrictions(before.restrictions, changes.restrictions);
	await tx
		.updateTable("keys")
		.set({
			limit_usd: limits.usd,
			limit_diem: limits.diem,
			limit_vcu: limits.vcu,
			limit_period: changes.limitPeriod ?? before.limitPeriod,
			description: changes.description ?? before.description,
			expires_at: changes.expiresAtMs === undefined ? before.expiresAtMs : changes.expiresAtMs,
			restrictions: restrictions === null ? null : JSON.stringify(restrictions),
		})
		.where("id", "=", before.id)
		.execute();
}
