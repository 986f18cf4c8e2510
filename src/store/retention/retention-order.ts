import { join } from "node:path";
import { DAY_MS } from "../core/day.ts";
import { addMonths, monthOf, monthStartMs } from "./month.ts";
import type { RetentionOrder } from "./retention-step.ts";

/** How long records stay in the store, in calendar months of UTC; left out: for good. */
export interface RetentionSettings {
	readonly folder?: string;
	readonly journalMonths?: number;
	readonly usageMonths?: number;
	readonly requestDays: number;
}

/** A node that was cut off for longer reads everything anew at its start. */
const CHANGES_KEPT_DAYS = 30;

/** Returns the folder in which archives are written. */
export function archiveFolder(settings: Pick<RetentionSettings, "folder">, dataDir: string): string {
	return settings.folder ?? join(dataDir, "archive");
}

/** Returns what must leave the store at an instant (Unix milliseconds). */
export function retentionOrder(settings: RetentionSettings, dataDir: string, nowMs: number): RetentionOrder {
	const { journalMonths, usageMonths, requestDays } = settings;
	const month = monthOf(nowMs);
	const firstKept = (months: number) => addMonths(month, -months);
	return {
		archive: journalMonths === undefined ? null : { before: firstKept(journalMonths), folder: archiveFolder(settings, dataDir) },
		foldUsage: usageMonths === undefined ? null : { beforeDay: monthStartMs(firstKept(usageMonths)) / DAY_MS },
		prune: { changesBeforeMs: nowMs - CHANGES_KEPT_DAYS * DAY_MS, exceededLimitsBeforeMs: nowMs - requestDays * DAY_MS },
	};
}
