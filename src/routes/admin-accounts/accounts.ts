import { accountView } from "../../access/index.ts";
import { invalidField } from "../../schema/index.ts";
import type { Call } from "../../server/call.ts";
import { type Answer, json } from "../../server/endpoint.ts";
import { readIdempotencyKey } from "../../server/index.ts";
import { accountCursor, readAccountCursor } from "./cursor.ts";
import { type AdminAccountDeps, REPLAYED_HEADER } from "./deps.ts";
import { type ChangeAccount, type CreateAccount, DEFAULT_LIMIT, type PageQuery } from "./schema.ts";

/** POST /admin/accounts */
export async function createAccount(body: CreateAccount, call: Call, { accounts }: AdminAccountDeps): Promise<Answer> {
	const { name, tier, creditUsd } = body;
	const entered = { name, ...(tier ? { tier } : {}), ...(creditUsd === undefined ? {} : { startingCreditUsd: creditUsd }) };
	const { account, replayed } = await accounts.create(entered, readIdempotencyKey(call.request));
	return json({ data: accountView(account), success: true }, 200, replayed ? REPLAYED_HEADER : {});
}

/** GET /admin/accounts: newest first. */
export async function listAccounts(query: PageQuery, { accounts }: AdminAccountDeps): Promise<Answer> {
	const after = query.cursor === undefined ? null : readAccountCursor(query.cursor);
	const { entries, more } = await accounts.list(after, query.limit ?? DEFAULT_LIMIT);
	const last = entries.at(-1);
	const nextCursor = more && last !== undefined ? accountCursor(last) : null;
	return json({ object: "list", data: entries.map(accountView), nextCursor });
}

/** PATCH /admin/accounts/{id}: omitted fields keep their values. */
export async function changeAccount(
	id: string,
	body: ChangeAccount,
	call: Call,
	{ accounts }: AdminAccountDeps,
): Promise<Answer> {
	if (body.disabled === true && call.caller?.account.id === id)
		throw invalidField(["disabled"], "your own account: nobody could enable it over HTTP again; use the command line");
	return json({ data: accountView(await accounts.change(id, body)), success: true });
}
