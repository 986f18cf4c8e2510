/** The log of requests that a limit refused: the last few of each account. */
import type { AccountTier, ExceededLimitKind } from "../types.ts";
import type { AdminStore } from "./open-admin.ts";

export interface ExceededLimit {
	readonly accountId: string;
	readonly keyId: string;
	/** The model; for a limit of no model, the endpoint's name. */
	readonly modelId: string;
	readonly tier: AccountTier;
	readonly kind: ExceededLimitKind;
	/** Unix milliseconds. */
	readonly atMs: number;
}

/** Entries that are kept per account. */
export const KEPT_EXCEEDED_LIMITS = 50;

/** Adds entries, oldest first, and deletes the ones beyond the maximum. */
export async function noteExceededLimits(admin: AdminStore, entries: readonly ExceededLimit[]): Promise<void> {
	if (entries.length === 0) return;
	await admin.db.transaction().execute(async (tx) => {
		for (const entry of entries) {
			await tx
				.insertInto("exceeded_limits")
				.values({
					account_id: entry.accountId,
					key_id: entry.keyId,
					model_id: entry.modelId,
					tier: entry.tier,
					kind: entry.kind,
					exceeded_at: entry.atMs,
				})
				.execute();
		}
		for (const accountId of new Set(entries.map((entry) => entry.accountId))) {
			const newest = tx
				.selectFrom("exceeded_limits")
				.select("id")
				.where("account_id", "=", accountId)
				.orderBy("id", "desc")
				.limit(KEPT_EXCEEDED_LIMITS);
			await tx.deleteFrom("exceeded_limits").where("account_id", "=", accountId).where("id", "not in", newest).execute();
		}
	});
}

/** Returns the entries of an account, newest first. */
export async function listExceededLimits(
	admin: AdminStore,
	input: { readonly accountId: string },
): Promise<readonly ExceededLimit[]> {
	const rows = await admin.db
		.selectFrom("exceeded_limits")
		.selectAll()
		.where("account_id", "=", input.accountId)
		.orderBy("exceeded_at", "desc")
		.orderBy("id", "desc")
		.execute();
	return rows.map((row) => ({
		accountId: row.account_id,
		keyId: row.key_id,
		modelId: row.model_id,
		tier: row.tier,
		kind: row.kind,
		atMs: Number(row.exceeded_at),
	}));
}
