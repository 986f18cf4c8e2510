/**
 * /api_keys and below: an account's own keys, for its ADMIN keys, and the limits of the calling key, for any key. Free.
 * A change applies to the next request on this node. Another account's key looks like one that never existed. A secret
 * is shown only in the answer that creates its key.
 */
import Type from "typebox";
import { CreatedKeySchema, KeySchema, KeyWithUsageSchema, keyWithUsageView, MISNAMED_KEY_FIELDS } from "../../access/index.ts";
import { type Endpoint, json, plain } from "../../server/endpoint.ts";
import { type ApiKeyDeps, callerOf } from "./deps.ts";
import { web3KeyRoutes } from "./generate-web3-key/index.ts";
import { createKey, listKeys, updateKey } from "./keys.ts";
import { RateLimitLogSchema, rateLimitLog } from "./rate-limit-log.ts";
import { RateLimitsSchema, rateLimits } from "./rate-limits.ts";
import { CreateKeySchema, ListKeysQuerySchema, RevokeKeyQuerySchema, UpdateKeySchema } from "./schema.ts";

export type { ApiKeyDeps } from "./deps.ts";

const MAX_BODY_BYTES = 1_048_576;

/** Declaration of routes that any key may read. */
const ownState = { tag: "API keys", openAi: false, callers: ["key"], listLimit: true } as const;
const common = { ...ownState, right: "ADMIN" } as const;
const success = { success: Type.Literal(true) };
const answer = (description: string, schema: Type.TSchema) => ({ type: "application/json", schema, description });
const body = <Schema extends Type.TSchema>(schema: Schema) => ({
	schema,
	maxBytes: MAX_BODY_BYTES,
	keepNulls: true,
	misnamed: MISNAMED_KEY_FIELDS,
});

export function apiKeyRoutes(deps: ApiKeyDeps): Endpoint[] {
	return [
		plain({
			...common,
			method: "GET",
			path: "/api_keys",
			name: "api-keys",
			summary: "List the account's keys, newest first",
			query: ListKeysQuerySchema,
			answer: answer(
				"Active keys. With page or limit: one page, with x-pagination-* headers",
				Type.Object({ object: Type.Literal("list"), data: Type.Array(KeyWithUsageSchema) }),
			),
			run: ({ query }, call) => listKeys(query, call, deps),
		}),
		plain({
			...common,
			method: "POST",
			path: "/api_keys",
			name: "api-keys",
			summary: "Create a key",
			minuteLimit: { subject: "key creations", requests: () => deps.limits().keyCreationsPerMinute },
			body: body(CreateKeySchema),
			answer: answer("The key, with its secret", Type.Object({ data: CreatedKeySchema, ...success })),
			run: (input, call) => createKey(input.body, call, deps),
		}),
		plain({
			...common,
			method: "PATCH",
			path: "/api_keys",
			name: "api-keys",
			summary: "Change a key's limits, period, description, expiry or restrictions",
			errors: [404],
			body: body(UpdateKeySchema),
			answer: answer("The key as it is now", Type.Object({ data: KeySchema, ...success })),
			run: (input, call) => updateKey(input.body, call, deps),
		}),
		plain({
			...common,
			method: "DELETE",
			path: "/api_keys",
			name: "api-keys",
			summary: "Revoke a key for good. A key may revoke itself",
			errors: [404],
			query: RevokeKeyQuerySchema,
			answer: answer("The key is revoked", Type.Object(success)),
			run: async ({ query }, call) => {
				await deps.keys.revoke(callerOf(call).account.id, query.id);
				return json({ success: true });
			},
		}),
		plain({
			...ownState,
			method: "GET",
			path: "/api_keys/rate_limits",
			name: "rate-limits",
			summary: "What this key may use now: balances, and limits of each model",
			answer: answer("Balances and limits", RateLimitsSchema),
			run: (_input, call) => rateLimits(call, deps),
		}),
		plain({
			...ownState,
			method: "GET",
			path: "/api_keys/rate_limits/log",
			name: "rate-limit-log",
			summary: "The account's last 50 requests that a limit refused, newest first",
			answer: answer("Refused requests", RateLimitLogSchema),
			run: (_input, call) => rateLimitLog(call, deps),
		}),
		...web3KeyRoutes(deps),
		// This comes after the literal paths, since the first matching route takes the request.
		plain({
			...common,
			method: "GET",
			path: "/api_keys/:id",
			name: "api-key",
			summary: "One key, with its spending",
			answer: answer("The key", Type.Object({ data: KeyWithUsageSchema })),
			run: async ({ params }, call) => {
				const key = await deps.keys.get(callerOf(call).account.id, params.id ?? "", call.admittedAtMs);
				return json({ data: keyWithUsageView(key) });
			},
		}),
	];
}
