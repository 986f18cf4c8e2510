import Type from "typebox";
import { invalidField } from "../../schema/index.ts";
import { named } from "../../schema/named-schema.ts";
import type { Call } from "../../server/call.ts";
import { type Answer, json } from "../../server/endpoint.ts";
import type { AnalyticsCache } from "./analytics-cache.ts";
import { analyticsView } from "./analytics-view.ts";
import { callerOf } from "./deps.ts";
import { timeOf, type UsageAnalyticsQuery } from "./schema.ts";

const DAY_MS = 86_400_000;
const MAX_DAYS = 90;

const money = { usd: Type.Number(), diem: Type.Number(), units: Type.Number() };
const totals = { totalUsd: Type.Number(), totalDiem: Type.Number(), totalUnits: Type.Number() };
const daily = Type.Array(Type.Record(Type.String(), Type.Number()), {
	description: "date: Unix milliseconds. diem has its own name",
});

export const UsageAnalyticsSchema = named(
	"UsageAnalytics",
	Type.Object({
		lookback: Type.String(),
		byDate: Type.Array(Type.Object({ date: Type.String(), USD: Type.Number(), DIEM: Type.Number() })),
		byModel: Type.Array(
			Type.Object({
				modelName: Type.String(),
				unitType: Type.String(),
				modelType: Type.Union([Type.Enum(["LLM", "IMAGE", "TTS", "ASR", "VIDEO"]), Type.Null()]),
				...totals,
				breakdown: Type.Optional(Type.Array(Type.Object({ type: Type.String(), ...money }))),
			}),
		),
		byModelDaily: daily,
		topModels: Type.Array(Type.String()),
		byKey: Type.Array(Type.Object({ apiKeyId: Type.Union([Type.String(), Type.Null()]), description: Type.String(), ...totals })),
		byKeyDaily: daily,
		topKeyNames: Type.Array(Type.String()),
	}),
);

/**
 * GET /billing/usage-analytics: usage of the account, or of an INFERENCE key itself, by day, model and key; up to ten
 * minutes old.
 */
export async function usageAnalytics(query: UsageAnalyticsQuery, call: Call, cache: AnalyticsCache): Promise<Answer> {
	const { lookback, firstDay, lastDay } = daysOf(query, Math.floor(call.admittedAtMs / DAY_MS));
	const { account, key } = callerOf(call);
	const sums = await cache.sums({ accountId: account.id, keyId: key.type === "ADMIN" ? null : key.id, firstDay, lastDay });
	return json({ lookback, ...analyticsView(sums) });
}

/** Returns the requested UTC days, both included. */
function daysOf({ lookback = "7d", startDate, endDate }: UsageAnalyticsQuery, today: number) {
	if (startDate === undefined && endDate === undefined) {
		const days = Number(lookback.slice(0, -1));
		return { lookback, firstDay: today - days + 1, lastDay: today };
	}
	const firstMs = timeOf("startDate", startDate);
	const lastMs = timeOf("endDate", endDate);
	if (firstMs === null || lastMs === null)
		throw invalidField([firstMs === null ? "startDate" : "endDate"], "is required: both dates or neither");
	const [firstDay, lastDay] = [firstMs / DAY_MS, lastMs / DAY_MS];
	if (lastDay < firstDay) throw invalidField(["endDate"], "must not be before startDate");
	if (lastDay - firstDay >= MAX_DAYS) throw invalidField(["endDate"], `must be within ${MAX_DAYS} days from startDate on`);
	return { lookback: `${startDate}:${endDate}`, firstDay, lastDay };
}
