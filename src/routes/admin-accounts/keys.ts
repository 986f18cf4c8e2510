import { createdKeyView, keyView, keyWithUsageView, readKeyFields } from "../../access/index.ts";
import type { Call } from "../../server/call.ts";
import { type Answer, json } from "../../server/endpoint.ts";
import type { AdminAccountDeps } from "./deps.ts";
import type { ChangeCustomerKey, CreateCustomerKey } from "./schema.ts";

/** POST /admin/accounts/{id}/keys: the only answer with the key's secret. */
export async function createKey(accountId: string, body: CreateCustomerKey, call: Call, deps: AdminAccountDeps): Promise<Answer> {
	const nowMs = call.admittedAtMs;
	await deps.accounts.show(accountId);
	const fields = readKeyFields(body, { nowMs, ruleNames: deps.ruleNames });
	const { key, secret } = await deps.keys.create(accountId, body.apiKeyType, fields, nowMs);
	return json({ data: createdKeyView(key, secret), success: true }, 200, { "Cache-Control": "no-store" });
}

/** GET /admin/accounts/{id}/keys: the active ones, newest first. */
export async function listKeys(accountId: string, call: Call, deps: AdminAccountDeps): Promise<Answer> {
	await deps.accounts.show(accountId);
	const { keys } = await deps.keys.list(accountId, call.admittedAtMs);
	return json({ object: "list", data: keys.map(keyWithUsageView) });
}

/** PATCH /admin/accounts/{id}/keys/{keyId}: given fields are replaced, omitted ones keep their values. */
export async function changeKey(
	accountId: string,
	keyId: string,
	body: ChangeCustomerKey,
	call: Call,
	deps: AdminAccountDeps,
): Promise<Answer> {
	await deps.accounts.show(accountId);
	const changes = readKeyFields(body, { nowMs: call.admittedAtMs, ruleNames: deps.ruleNames });
	return json({ data: keyView(await deps.keys.update(accountId, keyId, changes)), success: true });
}

/** DELETE /admin/accounts/{id}/keys/{keyId} */
export async function revokeKey(accountId: string, keyId: string, deps: AdminAccountDeps): Promise<Answer> {
	await deps.accounts.show(accountId);
	await deps.keys.revoke(accountId, keyId);
	return json({ success: true });
}
