const FORM =
	/^(\d{4})-(0[1-9]|1[0-2])-(\d{2})T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** Parses an instant (RFC 3339) into Unix milliseconds; null if it is malformed or the day does not exist. */
export function readInstant(text: string): number | null {
	const [, year, month, day] = FORM.exec(text) ?? [];
	if (year === undefined) return null;
	const lastDay = new Date(Date.UTC(Number(year), Number(month), 0)).getUTCDate();
	if (Number(day) < 1 || Number(day) > lastDay) return null;
	const instant = Date.parse(text);
	return Number.isNaN(instant) ? null : instant;
}
