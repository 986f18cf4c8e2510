import Type, { type Static } from "typebox";
import type { StatementEntry } from "../../budgets/index.ts";
import { invalidField } from "../../schema/index.ts";

const INSTANT = "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,9})?)?(Z|[+-]\\d{2}:\\d{2})$";
const UTC_INSTANT = "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2}(\\.\\d{1,9})?)?Z$";
const DATE = "^\\d{4}-\\d{2}-\\d{2}$";
const instant = (pattern: string, description: string) => Type.Optional(Type.String({ pattern, description }));

/** `VCU` is a name of old: nothing is ever charged in it. */
export const UsageQuerySchema = Type.Object({
	currency: Type.Optional(Type.Enum(["USD", "VCU", "DIEM", "BUNDLED_CREDITS"])),
	startDate: instant(INSTANT, "First instant, ISO 8601"),
	endDate: instant(INSTANT, "Last instant, ISO 8601"),
	limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: "Default 200" })),
	page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000, description: "Default 1" })),
	sortOrder: Type.Optional(Type.Enum(["asc", "desc"], { description: "By time, default desc" })),
});
export type UsageQuery = Static<typeof UsageQuerySchema>;

export const UsageHistoryQuerySchema = Type.Object({
	currency: Type.Optional(Type.Enum(["USD", "DIEM", "BUNDLED_CREDITS"])),
	startTimestamp: instant(UTC_INSTANT, "First instant, ISO 8601 with Z"),
	endTimestamp: instant(UTC_INSTANT, "Instant before which it ends, ISO 8601 with Z"),
	pageSize: Type.Optional(Type.Integer({ minimum: 10, maximum: 1000, description: "Default 1000" })),
	cursor: Type.Optional(
		Type.String({ maxLength: 512, pattern: "^[A-Za-z0-9_-]+$", description: "nextCursor of the page before, alone" }),
	),
});
export type UsageHistoryQuery = Static<typeof UsageHistoryQuerySchema>;

export const UsageAnalyticsQuerySchema = Type.Object({
	lookback: Type.Optional(Type.String({ pattern: "^[1-9]\\d*d$", description: "Days up to today, default 7d, at most 90d" })),
	startDate: Type.Optional(Type.String({ pattern: DATE, description: "With endDate; before lookback" })),
	endDate: Type.Optional(Type.String({ pattern: DATE, description: "With startDate; included" })),
});
export type UsageAnalyticsQuery = Static<typeof UsageAnalyticsQuerySchema>;

export const SOURCE_OF = { USD: "usd", DIEM: "diem", BUNDLED_CREDITS: "bundled" } as const satisfies Record<
	string,
	StatementEntry["source"]
>;

/** Unix milliseconds of an instant or a date that its pattern has passed; null where there is none. Throws 400. */
export function timeOf(field: string, text: string | undefined): number | null {
	if (text === undefined) return null;
	const ms = Date.parse(text);
	// Some parsers take the 30th of February for the 1st of March.
	const day = Number(text.slice(8, 10));
	const lastDay = new Date(Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)), 0)).getUTCDate();
	if (Number.isNaN(ms) || day > lastDay) throw invalidField([field], "is no such time");
	return ms;
}
