import Type from "typebox";
import { invalidField } from "../../schema/index.ts";
import { named } from "../../schema/named-schema.ts";
import type { Call } from "../../server/call.ts";
import { type Answer, json } from "../../server/endpoint.ts";
import { paginationHeaders } from "../../server/pagination.ts";
import { wantsCsv } from "./accept.ts";
import { type BillingDeps, callerOf } from "./deps.ts";
import { UsageEntrySchema, usageCsv, usageEntry } from "./entry.ts";
import { lastTimeOf, SOURCE_OF, timeOf, type UsageQuery } from "./schema.ts";

export const UsageSchema = named(
	"UsagePage",
	Type.Object({
		data: Type.Array(UsageEntrySchema),
		pagination: Type.Object({
			limit: Type.Integer(),
			page: Type.Integer(),
			total: Type.Integer(),
			totalPages: Type.Integer(),
		}),
	}),
);

const LINK = '</api/v1/billing/usage-history>; rel="successor-version"';

/** GET /billing/usage: the account's charges page by page, as JSON or CSV. */
export async function usage(query: UsageQuery, call: Call, { statements }: BillingDeps): Promise<Answer> {
	const { limit = 200, page = 1, sortOrder = "desc", currency } = query;
	const fromMs = timeOf("startDate", query.startDate);
	const lastMs = lastTimeOf("endDate", query.endDate);
	if (fromMs !== null && lastMs !== null && lastMs < fromMs) throw invalidField(["endDate"], "must not be before startDate");
	const result =
		currency === "VCU"
			? { entries: [], total: 0 }
			: await statements.page({
					accountId: callerOf(call).account.id,
					currency: currency === undefined ? null : SOURCE_OF[currency],
					fromMs,
					toMs: lastMs === null ? null : lastMs + 1,
					order: sortOrder,
					offset: (page - 1) * limit,
					limit,
				});
	const pagination = { limit, page, total: result.total, totalPages: Math.ceil(result.total / limit) };
	const headers = { ...paginationHeaders(pagination), Link: LINK };
	if (!wantsCsv(call.request.headers.get("accept")))
		return json({ data: result.entries.map(usageEntry), pagination }, 200, headers);
	return {
		status: 200,
		type: "text/csv; charset=utf-8",
		body: usageCsv(result.entries),
		headers: { ...headers, "Content-Disposition": "attachment; filename=billing_usage.csv" },
	};
}
