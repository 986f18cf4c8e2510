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

/** `2026-11-28 06:12:01` in the reader's own time. */
export function localTime(instant: string | Date): string {
	const parts = Object.fromEntries(dateTime.formatToParts(new Date(instant)).map(({ type, value }) => [type, value]));
	return `${parts.year}-${parts.month}-${parts.day} ${parts.hour}:${parts.minute}:${parts.second}`;
}

/** `06:12` in the reader's own time. */
export const localClock = (instant: string | Date): string => clock.format(new Date(instant));

/** The same instant in UTC, for titles. */
export const utcTime = (instant: string | Date): string => new Date(instant).toISOString().replace("T", " ").replace("Z", " UTC");

/** The UTC day that is so many days after today. */
export const utcDay = (offset = 0): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
