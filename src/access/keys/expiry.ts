import { invalidField } from "../../schema/index.ts";

const FORM = /^(\d{4}-\d{2}-\d{2})(?:(T\d{2}:\d{2}:\d{2}(?:\.\d{1,3})?)(Z|[+-]\d{2}:\d{2}))?$/;

/** Later instants have years of more than four digits. */
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/**
 * Returns when a key expires, in Unix milliseconds; null for never (null, or an empty text). A bare date is 00:00 UTC of that
 * day.
 * @throws 400 for other formats, days that do not exist, and instants that are not after `nowMs`
 */
export function readExpiry(value: string | null, nowMs: number): number | null {
	if (value === null || value === "") return null;
	const [, date, time = "T00:00:00", zone = "Z"] = FORM.exec(value) ?? [];
	const local = Date.parse(`${date}${time}Z`);
	const instant = Date.parse(`${date}${time}${zone}`);
	// `Date` parses the 30th of February as the 2nd of March, and 24:00 as the next day.
	const exists = instant <= LAST_MS && local <= LAST_MS && new Date(local).toISOString().slice(0, 10) === date;
	if (!exists) {
		throw invalidField(
			["expiresAt"],
			"must be a date (2030-01-31), an instant (2030-01-31T12:00:00Z, 2030-01-31T12:00:00+02:00), or empty for never",
		);
	}
	if (instant <= nowMs) throw invalidField(["expiresAt"], "must lie in the future");
	return instant;
}
