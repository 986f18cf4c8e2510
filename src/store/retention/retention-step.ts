import type { AdminStore } from "../admin/open-admin.ts";
import { type ArchiveOrder, type ArchiveProgress, archiveStep } from "./archive-step.ts";
import { type FoldUsageOrder, foldUsageStep } from "./fold-usage-step.ts";
import { type PruneOrder, pruneStep } from "./prune-step.ts";

/** What must leave the store; null: it stays for good. */
export interface RetentionOrder {
	readonly archive: ArchiveOrder | null;
	readonly foldUsage: FoldUsageOrder | null;
	readonly prune: PruneOrder | null;
}

export interface RetentionProgress {
	/** False where nothing is left to do now. */
	readonly moved: boolean;
	/** The progress of the archive, where one was ordered. */
	readonly archive: ArchiveProgress | null;
}

/** Does the next small piece of due work. A repeat after a failure does no harm. Throws errors of the steps. */
export async function retentionStep(admin: AdminStore, order: RetentionOrder): Promise<RetentionProgress> {
	const archive = order.archive === null ? null : await archiveStep(admin, order.archive);
	if (archive !== null && archive.state !== "idle" && archive.state !== "elsewhere") return { moved: true, archive };
	if (order.foldUsage !== null && (await foldUsageStep(admin, order.foldUsage))) return { moved: true, archive };
	return { moved: order.prune !== null && (await pruneStep(admin, order.prune)), archive };
}
