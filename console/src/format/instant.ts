const dateTime = new Intl.DateTimeFormat(undefined, {
	year: "numeric",
	month: "2-digit",
	day: "2-digit",
	hour: "2-digit",
	minute: "2-digit",
	second: "2-digit",
	hourCycle: "h23",
});
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

/** Returns `2026-11-28 06:12:01` in the reader's time zone. */
export function localTime(instant: string | Date): string {
	const parts = Object.fromEntries(dateTime.formatToParts(new Date(instant)).map(({ type, value }) => [type, value]));
	return `${parts.year}-${parts.month}-${parts.day} ${parts.hour}:${parts.minute}:${parts.second}`;
}

/** Returns `06:12` in the reader's time zone. */
export const localClock = (instant: string | Date): string => clock.format(new Date(instant));

/** Returns the same instant in UTC, for titles. */
export const utcTime = (instant: string | Date): string => new Date(instant).toISOString().replace("T", " ").replace("Z", " UTC");

/** Returns the UTC day `offset` days after today. */
export const utcDay = (offset = 0): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
