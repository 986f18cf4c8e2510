import { createdKeyView, readKeyFields } from "../../access/index.ts";
import type { Call } from "../../server/call.ts";
import { type Answer, json } from "../../server/endpoint.ts";
import { type ApiKeyDeps, callerOf } from "./deps.ts";
import type { CreateKey } from "./schema.ts";

/** POST /api_keys: the only answer with the key's secret. */
export async function createKey(body: CreateKey, call: Call, deps: ApiKeyDeps): Promise<Answer> {
	const nowMs = call.admittedAtMs;
	const fields = readKeyFields(body, { nowMs, ruleNames: deps.ruleNames });
	const { key, secret } = await deps.keys.create(callerOf(call).account.id, body.apiKeyType, fields, nowMs);
	return json({ data: createdKeyView(key, secret), success: true }, 200, { "Cache-Control": "no-store" });
}
