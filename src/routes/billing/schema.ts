import Type, { type Static } from "typebox";
import type { StatementEntry } from "../../budgets/index.ts";
import { invalidField } from "../../schema/index.ts";
import { patternedText } from "../../schema/patterned-text.ts";

const DAY = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])";
const HOURS_AND_MINUTES = "([01][0-9]|2[0-3]):[0-5][0-9]";
const LOCAL_INSTANT = `${DAY}T${HOURS_AND_MINUTES}(:[0-5][0-9](\\.[0-9]{1,9})?)?`;
const INSTANT_RULE = "must be an instant in UTC like 2030-01-31T12:00:00Z, or a date like 2030-01-31";
const date = (description: string) => Type.Optional(patternedText(`^${DAY}$`, "must be a date like 2030-01-31", { description }));
const instant = (description: string) =>
	Type.Optional(
		patternedText(`^(${DAY}|${LOCAL_INSTANT}(Z|[+-]${HOURS_AND_MINUTES}))$`, INSTANT_RULE, {
			description,
		}),
	);
const utcInstant = (description: string) =>
	Type.Optional(patternedText(`^(${DAY}|${LOCAL_INSTANT}Z)$`, INSTANT_RULE, { description }));

/** `VCU` is an old name: nothing is ever charged in it. */
export const UsageQuerySchema = Type.Object({
	currency: Type.Optional(Type.Enum(["USD", "VCU", "DIEM", "BUNDLED_CREDITS"])),
	startDate: instant("First instant in ISO 8601, or a date, which means its beginning in UTC"),
	endDate: instant("Last instant in ISO 8601, or a date, which means its end in UTC"),
	limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: "Default 200" })),
	page: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000, description: "Default 1" })),
	sortOrder: Type.Optional(Type.Enum(["asc", "desc"], { description: "By time, default desc" })),
});
export type UsageQuery = Static<typeof UsageQuerySchema>;

export const UsageHistoryQuerySchema = Type.Object({
	currency: Type.Optional(Type.Enum(["USD", "DIEM", "BUNDLED_CREDITS"])),
	startTimestamp: utcInstant("First instant in ISO 8601 with Z, or a date, which means its beginning"),
	endTimestamp: utcInstant("End, exclusive, in ISO 8601 with Z, or a date, which means its beginning"),
	pageSize: Type.Optional(Type.Integer({ minimum: 10, maximum: 1000, description: "Default 1000" })),
	cursor: Type.Optional(
		Type.String({
			maxLength: 512,
			pattern: "^[A-Za-z0-9_-]+$",
			description: "nextCursor of the previous page, without other parameters",
		}),
	),
});
export type UsageHistoryQuery = Static<typeof UsageHistoryQuerySchema>;

export const MovementsQuerySchema = Type.Object({
	...UsageHistoryQuerySchema.properties,
	sortOrder: UsageQuerySchema.properties.sortOrder,
});
export type MovementsQuery = Static<typeof MovementsQuerySchema>;

export const UsageAnalyticsQuerySchema = Type.Object({
	lookback: Type.Optional(
		patternedText("^([1-9]|[1-8][0-9]|90)d$", "must be days from 1d to 90d", { description: "Days up to today, default 7d" }),
	),
	startDate: date("Needs endDate. It takes precedence over lookback"),
	endDate: date("Needs startDate. This day is included"),
});
export type UsageAnalyticsQuery = Static<typeof UsageAnalyticsQuerySchema>;

const DAY_MS = 86_400_000;

/**
 * Returns the last instant of a date, or an instant itself; null if there is none.
 * @throws ApiError 400
 */
export function lastTimeOf(field: string, text: string | undefined): number | null {
	const ms = timeOf(field, text);
	return ms !== null && text?.length === "2030-01-31".length ? ms + DAY_MS - 1 : ms;
}

export const SOURCE_OF = { USD: "usd", DIEM: "diem", BUNDLED_CREDITS: "bundled" } as const satisfies Record<
	string,
	StatementEntry["source"]
>;

/**
 * Returns Unix milliseconds of an instant or a date whose pattern was checked; null if there is none.
 * @throws ApiError 400
 */
export function timeOf(field: string, text: string | undefined): number | null {
	if (text === undefined) return null;
	const ms = Date.parse(text);
	// Some parsers take the 30th of February for the 1st of March.
	const day = Number(text.slice(8, 10));
	const lastDay = new Date(Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)), 0)).getUTCDate();
	if (Number.isNaN(ms) || day > lastDay) throw invalidField([field], "is no such time");
	return ms;
}
