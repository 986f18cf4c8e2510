import { createdKeyView, keyView, keyWithUsageView, readKeyFields } from "../../access/index.ts";
import type { Call } from "../../server/call.ts";
import { type Answer, json } from "../../server/endpoint.ts";
import { type ApiKeyDeps, callerOf } from "./deps.ts";
import type { CreateKey, ListKeysQuery, UpdateKey } from "./schema.ts";

/** POST /api_keys: the only answer with the key's secret. */
export async function createKey(body: CreateKey, call: Call, deps: ApiKeyDeps): Promise<Answer> {
	const nowMs = call.admittedAtMs;
	const fields = readKeyFields(body, { nowMs, ruleNames: deps.ruleNames });
	const { key, secret } = await deps.keys.create(callerOf(call).account.id, body.apiKeyType, fields, nowMs);
	return json({ data: createdKeyView(key, secret), success: true }, 200, { "Cache-Control": "no-store" });
}

/** PATCH /api_keys: given fields are replaced, omitted ones keep their values. */
export async function updateKey(body: UpdateKey, call: Call, deps: ApiKeyDeps): Promise<Answer> {
	const changes = readKeyFields(body, { nowMs: call.admittedAtMs, ruleNames: deps.ruleNames });
	const key = await deps.keys.update(callerOf(call).account.id, body.id, changes);
	return json({ data: keyView(key), success: true });
}

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
