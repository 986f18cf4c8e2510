import { accountView, keyView } from "../../access/index.ts";
import { amountText } from "../../budgets/index.ts";
import type { Answer } from "../../server/endpoint.ts";
import type { ConsoleApiDeps } from "./deps.ts";
import { pageAnswer, pageOf } from "./page.ts";
import type { AccountsQuery, KeysQuery } from "./schema.ts";
import type { Account, KeyRow } from "./types.ts";

/** GET /accounts: newest first. */
export async function accounts(query: AccountsQuery, { reader }: ConsoleApiDeps): Promise<Answer> {
	const { limit, after } = pageOf(query);
	const page = await reader.page("accounts", {
		order: "newest-first",
		after: after === null ? null : { createdAtMs: after.atMs, id: after.id },
		limit,
		...(query.search ? { search: query.search } : {}),
	});
	return pageAnswer(
		page,
		(account): Account => accountView(account),
		({ createdAtMs, id }) => ({ atMs: createdAtMs, id }),
	);
}

/** GET /keys: of all accounts, newest first. */
export async function keys(query: KeysQuery, { reader }: ConsoleApiDeps): Promise<Answer> {
	const { limit, after } = pageOf(query);
	const page = await reader.page("keys", {
		state: query.state ?? "active",
		after: after === null ? null : { createdAtMs: after.atMs, id: after.id },
		limit,
		...(query.search ? { search: query.search } : {}),
		...(query.accountId ? { accountId: query.accountId } : {}),
	});
	return pageAnswer(
		page,
		({ key, account, state, trailingSevenDays: { usd, diem } }): KeyRow => ({
			...keyView(key),
			account,
			state,
			trailingSevenDays: { usd: amountText(usd), diem: amountText(diem) },
		}),
		({ key }) => ({ atMs: key.createdAtMs, id: key.id }),
	);
}
