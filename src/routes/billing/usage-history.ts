import Type from "typebox";
import { named } from "../../schema/named-schema.ts";
import type { Call } from "../../server/call.ts";
import { type Answer, json } from "../../server/endpoint.ts";
import { wantsCsv } from "./accept.ts";
import { openCursor, sealCursor } from "./cursor.ts";
import { type BillingDeps, callerOf } from "./deps.ts";
import { UsageEntrySchema, usageCsv, usageEntry } from "./entry.ts";
import { filtersOf, requireCursorAlone } from "./filters.ts";
import type { UsageHistoryQuery } from "./schema.ts";

export const UsageHistorySchema = named(
	"UsageHistory",
	Type.Object({
		data: Type.Array(UsageEntrySchema),
		nextCursor: Type.Union([Type.String({ maxLength: 512 }), Type.Null()], { description: "null on the last page" }),
	}),
);

const FILTERS = ["currency", "startTimestamp", "endTimestamp", "pageSize"] as const;
const DEFAULT_PAGE_SIZE = 1000;

/** GET /billing/usage-history: the account's charges in the order of posting, page by page. */
export async function usageHistory(query: UsageHistoryQuery, call: Call, { statements, clock }: BillingDeps): Promise<Answer> {
	const accountId = callerOf(call).account.id;
	const secret = await statements.cursorSecret();
	const page =
		query.cursor === undefined ? firstPage(query) : followingPage(query, query.cursor, accountId, secret, clock.wallMs());
	const { pageSize, ...place } = page;
	const result = await statements.history({ ...place, accountId, limit: pageSize });
	const { currency, toMs } = page;
	const nextCursor =
		result.next === null ? null : sealCursor({ currency, toMs, pageSize, after: result.next }, accountId, secret, clock.wallMs());
	if (!wantsCsv(call.request.headers.get("accept"))) return json({ data: result.entries.map(usageEntry), nextCursor });
	return csvPage("billing-usage-history", usageCsv(result.entries), nextCursor, call);
}

/** Returns a page of a list as a file, with the cursor of the next page in a header. */
export function csvPage(name: string, body: string, nextCursor: string | null, { admittedAtMs }: Call): Answer {
	const stamp = new Date(admittedAtMs).toISOString().replaceAll(/[-:.]/g, "");
	return {
		status: 200,
		type: "text/csv; charset=utf-8",
		body,
		headers: {
			"Content-Disposition": `attachment; filename=${name}-${stamp}.csv`,
			...(nextCursor === null ? {} : { "x-next-cursor": nextCursor }),
		},
	};
}

function firstPage(query: UsageHistoryQuery) {
	return { ...filtersOf(query), after: null, pageSize: query.pageSize ?? DEFAULT_PAGE_SIZE };
}

function followingPage(query: UsageHistoryQuery, cursor: string, accountId: string, secret: string, nowMs: number) {
	requireCursorAlone(query, FILTERS);
	const { currency, toMs, pageSize, after } = openCursor(cursor, accountId, secret, nowMs);
	return { currency, fromMs: null, toMs, after, pageSize };
}
