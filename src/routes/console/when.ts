/** Formats instants and days for the console, in UTC. */
import Type from "typebox";
import { invalidField } from "../../schema/index.ts";

const DAY_MS = 86_400_000;
const MAX_DAYS = 366;
const DEFAULT_DAYS = 30;

export function instant(ms: number): string {
	return new Date(ms).toISOString();
}

export function instantOrNull(ms: number | null): string | null {
	return ms === null ? null : instant(ms);
}

/** Returns a UTC day number as `2026-11-28`. */
export function dayText(day: number): string {
	return instant(day * DAY_MS).slice(0, 10);
}

export const DaySchema = Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$" });

/**
 * Returns the UTC day number of a day.
 * @throws ApiError 400 for a day that no calendar has
 */
export function dayOf(field: string, text: string): number {
	const ms = Date.parse(`${text}T00:00:00Z`);
	// Some parsers read 02-30 as 03-02.
	if (Number.isNaN(ms) || instant(ms).slice(0, 10) !== text) throw invalidField([field], "is no day; expected like 2026-11-28");
	return ms / DAY_MS;
}

export const RANGE_FIELDS = { from: Type.Optional(DaySchema), to: Type.Optional(DaySchema) };

export interface DayRange {
	/** UTC day numbers, both included. */
	readonly firstDay: number;
	readonly lastDay: number;
}

/**
 * Returns the days of a query; left out: the 30 up to `to`, or to today.
 * @throws ApiError 400
 */
export function rangeOf(query: { readonly from?: string; readonly to?: string }, today: number): DayRange {
	const lastDay = query.to === undefined ? today : dayOf("to", query.to);
	const firstDay = query.from === undefined ? lastDay - DEFAULT_DAYS + 1 : dayOf("from", query.from);
	if (firstDay > lastDay) throw invalidField(["from"], "is after to");
	if (lastDay - firstDay >= MAX_DAYS) throw invalidField(["from"], `is more than ${MAX_DAYS} days before to`);
	return { firstDay, lastDay };
}
