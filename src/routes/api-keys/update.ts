import { keyView, readKeyFields } from "../../access/index.ts";
import type { Call } from "../../server/call.ts";
import { type Answer, json } from "../../server/endpoint.ts";
import { type ApiKeyDeps, callerOf } from "./deps.ts";
import type { UpdateKey } from "./schema.ts";

/** PATCH /api_keys: given fields are replaced, omitted ones keep their values. */
export async function updateKey(body: UpdateKey, call: Call, deps: ApiKeyDeps): Promise<Answer> {
	const changes = readKeyFields(body, { nowMs: call.admittedAtMs, ruleNames: deps.ruleNames });
	const key = await deps.keys.update(callerOf(call).account.id, body.id, changes);
	return json({ data: keyView(key), success: true });
}
