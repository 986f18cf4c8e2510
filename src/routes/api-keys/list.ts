import { keyWithUsageView } from "../../access/index.ts";
import type { Call } from "../../server/call.ts";
import { type Answer, json } from "../../server/endpoint.ts";
import { type ApiKeyDeps, callerOf } from "./deps.ts";
import type { ListKeysQuery } from "./schema.ts";

const LARGEST_PAGE = 500;

/** GET /api_keys: all keys, or a page if `page` or `limit` is given. */
export async function listKeys(query: ListKeysQuery, call: Call, { keys }: ApiKeyDeps): Promise<Answer> {
	const accountId = callerOf(call).account.id;
	const paged = query.page !== undefined || query.limit !== undefined;
	const { page = 1, limit = LARGEST_PAGE } = query;
	const range = paged ? { offset: (page - 1) * limit, limit } : undefined;
	const result = await keys.list(accountId, call.admittedAtMs, range);
	const headers = {
		"x-pagination-limit": String(limit),
		"x-pagination-page": String(page),
		"x-pagination-total": String(result.total),
		"x-pagination-total-pages": String(Math.ceil(result.total / limit)),
	};
	return json({ object: "list", data: result.keys.map(keyWithUsageView) }, 200, paged ? headers : {});
}
