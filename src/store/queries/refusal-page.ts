import type { ExceededLimit } from "../admin/exceeded-limits.ts";
import type { AdminStore } from "../admin/open-admin.ts";

export interface RefusalPageQuery {
	readonly accountId?: string;
	/** The last position of the page before; null: from the newest on. */
	readonly before: number | null;
	readonly limit: number;
}

export interface RefusalEntry extends ExceededLimit {
	/** Position in the order; later entries have higher ones. */
	readonly place: number;
	readonly accountName: string;
}

/**
 * Returns the log of requests that a limit refused, of all accounts or of one, newest first, at the cost of the page.
 */
export async function listRefusalPage(
	admin: AdminStore,
	{ accountId, before, limit }: RefusalPageQuery,
): Promise<RefusalEntry[]> {
	let page = admin.db
		.selectFrom("exceeded_limits")
		.innerJoin("accounts", "accounts.id", "exceeded_limits.account_id")
		.selectAll("exceeded_limits")
		.select("accounts.name as account_name");
	if (accountId !== undefined) page = page.where("exceeded_limits.account_id", "=", accountId);
	if (before !== null) page = page.where("exceeded_limits.id", "<", BigInt(before));
	const rows = await page.orderBy("exceeded_limits.id", "desc").limit(limit).execute();
	return rows.map((row) => ({
		place: Number(row.id),
		accountId: row.account_id,
		accountName: row.account_name,
		keyId: row.key_id,
		modelId: row.model_id,
		tier: row.tier,
		kind: row.kind,
		atMs: Number(row.exceeded_at),
	}));
}
