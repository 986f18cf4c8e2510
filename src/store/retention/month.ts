/** Calendar months in UTC, written `2026-08`. */

const MONTH = /^(\d{4})-(0[1-9]|1[0-2])$/;

/** Returns the month of a Unix time in milliseconds. */
export function monthOf(ms: number): string {
	return new Date(ms).toISOString().slice(0, 7);
}

/** Returns true for text like `2026-08`. */
export function isMonth(text: string): boolean {
	return MONTH.test(text);
}

/** Returns the Unix milliseconds at which a month begins. */
export function monthStartMs(month: string): number {
	return Date.parse(`${month}-01T00:00:00Z`);
}

/** Returns the month that is `count` months later; earlier where `count` is negative. */
export function addMonths(month: string, count: number): string {
	const start = new Date(monthStartMs(month));
	return monthOf(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + count, 1));
}
