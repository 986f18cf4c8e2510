/**
 * /billing and below: an account's balances and charges. Free. An answer includes every charge whose answer was sent
 * before. It costs the same at any depth and any length of the journal. Charges are exact to the nano-USD. Charges of
 * other accounts and charges at price 0 are never listed.
 */
import Type from "typebox";
import { type Endpoint, plain } from "../../server/endpoint.ts";
import { AnalyticsCache } from "./analytics-cache.ts";
import { BalanceSchema, balance } from "./balance.ts";
import type { BillingDeps } from "./deps.ts";
import { MovementsSchema, movements } from "./movements.ts";
import { MovementsQuerySchema, UsageAnalyticsQuerySchema, UsageHistoryQuerySchema, UsageQuerySchema } from "./schema.ts";
import { UsageSchema, usage } from "./usage.ts";
import { UsageAnalyticsSchema, usageAnalytics } from "./usage-analytics.ts";
import { UsageHistorySchema, usageHistory } from "./usage-history.ts";

export type { BillingDeps } from "./deps.ts";

const common = { method: "GET", tag: "Billing", openAi: false, callers: ["key"], listLimit: true } as const;
const json = "application/json";
const csv = { "text/csv": Type.String() };
const CSV = "; with Accept: text/csv as CSV";

export function billingRoutes(deps: BillingDeps): Endpoint[] {
	const analytics = new AnalyticsCache(deps.statements, deps.clock);
	return [
		plain({
			...common,
			path: "/billing/balance",
			name: "billing-balance",
			summary: "Get the account's balances",
			answer: {
				type: json,
				schema: BalanceSchema,
				description: "Balances, and the currency in which the calling key is charged next",
			},
			run: (_, call) => balance(call, deps),
		}),
		plain({
			...common,
			path: "/billing/usage",
			name: "billing-usage",
			right: "ADMIN",
			summary: "Charges, page by page",
			query: UsageQuerySchema,
			answer: { type: json, schema: UsageSchema, description: `A page with x-pagination-* headers${CSV}`, others: csv },
			run: ({ query }, call) => usage(query, call, deps),
		}),
		plain({
			...common,
			path: "/billing/usage-history",
			name: "billing-usage-history",
			right: "ADMIN",
			summary: "Charges in the order of posting, page after page",
			query: UsageHistoryQuerySchema,
			answer: {
				type: json,
				schema: UsageHistorySchema,
				description: `Entries, and the cursor of the next page${CSV}`,
				others: csv,
			},
			run: ({ query }, call) => usageHistory(query, call, deps),
		}),
		plain({
			...common,
			path: "/billing/movements",
			name: "billing-movements",
			right: "ADMIN",
			summary: "Credits, debits and refunds, newest first",
			query: MovementsQuerySchema,
			answer: {
				type: json,
				schema: MovementsSchema,
				description: `Movements, and the cursor of the next page${CSV}`,
				others: csv,
			},
			run: ({ query }, call) => movements(query, call, deps),
		}),
		plain({
			...common,
			path: "/billing/usage-analytics",
			name: "billing-usage-analytics",
			summary: "Usage by day, model and key, up to ten minutes old",
			description: "An ADMIN key reads the use of the whole account, an INFERENCE key its own.",
			query: UsageAnalyticsQuerySchema,
			errors: [504],
			answer: { type: json, schema: UsageAnalyticsSchema, description: "Sums, highest spending first" },
			run: ({ query }, call) => usageAnalytics(query, call, analytics),
		}),
	];
}
