/** Deletes notices and logs that are too old to matter, a bounded number per call. */
import type { AdminStore } from "../admin/open-admin.ts";

export interface PruneOrder {
	/**
	 * Deletes notices of changes from before this Unix time in milliseconds: every node has read them, or reads
	 * everything anew.
	 */
	readonly changesBeforeMs: number;
	/** Deletes log entries of refused requests from before this time. */
	readonly exceededLimitsBeforeMs: number;
}

const ROWS_A_STEP = 1_000;

/** Removes the oldest rows; returns false where none was old enough. Throws errors of the store. */
export function pruneStep(admin: AdminStore, order: PruneOrder): Promise<boolean> {
	return admin.db.transaction().execute(async (tx) => {
		// Ids grow with time, so the first rows are the oldest. The last notice stays, since nodes count from its id.
		const changes = await tx.selectFrom("changes").select(["id", "changed_at as at"]).orderBy("id").limit(ROWS_A_STEP).execute();
		const newest = await tx.selectFrom("changes").select("id").orderBy("id", "desc").limit(1).executeTakeFirst();
		const goneChanges = oldIds(changes, order.changesBeforeMs).filter((id) => id !== newest?.id);
		if (goneChanges.length > 0) await tx.deleteFrom("changes").where("id", "in", goneChanges).execute();
		const limits = await tx
			.selectFrom("exceeded_limits")
			.select(["id", "exceeded_at as at"])
			.orderBy("id")
			.limit(ROWS_A_STEP)
			.execute();
		const goneLimits = oldIds(limits, order.exceededLimitsBeforeMs);
		if (goneLimits.length > 0) await tx.deleteFrom("exceeded_limits").where("id", "in", goneLimits).execute();
		return goneChanges.length + goneLimits.length > 0;
	});
}

function oldIds(rows: readonly { readonly id: bigint; readonly at: bigint }[], beforeMs: number): bigint[] {
	return rows.filter((row) => row.at < BigInt(beforeMs)).map((row) => row.id);
}
