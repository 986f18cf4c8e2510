/**
 * /admin/accounts and below: the operator's shop and scripts manage accounts. It does what `turnpike accounts` and
 * `turnpike keys` do on the command line, over the same operations of the store. Only for ADMIN keys of the operator's
 * account. Free, and without a minute limit. Money moves once for each Idempotency-Key, even if two nodes get it at
 * once. A page costs the same at any number of accounts. A change applies to the next request on this node.
 */
import Type from "typebox";
import {
	AccountSchema,
	accountView,
	BookedSchema,
	CreatedKeySchema,
	KeySchema,
	KeyWithUsageSchema,
	MISNAMED_KEY_FIELDS,
	MoneyEntrySchema,
	RefundedSchema,
} from "../../access/index.ts";
import { type Endpoint, json, plain } from "../../server/endpoint.ts";
import { changeAccount, createAccount, listAccounts } from "./accounts.ts";
import { type AdminAccountDeps, accountIn } from "./deps.ts";
import { changeKey, createKey, listKeys, revokeKey } from "./keys.ts";
import { listMoney, moveMoney, refund, requireIdempotencyKey } from "./money.ts";
import {
	ChangeAccountSchema,
	ChangeCustomerKeySchema,
	CreateAccountSchema,
	CreateCustomerKeySchema,
	MoneySchema,
	PageSchema,
	pageAnswer,
	RefundSchema,
} from "./schema.ts";

export type { AdminAccountDeps } from "./deps.ts";

const MAX_BODY_BYTES = 1_048_576;

const common = { tag: "Accounts", openAi: false, callers: ["key"], right: "OPERATOR", listLimit: false } as const;
const body = <Schema extends Type.TSchema>(schema: Schema, misnamed: Readonly<Record<string, string>> = {}) => ({
	schema,
	maxBytes: MAX_BODY_BYTES,
	keepNulls: true,
	misnamed,
});
const answer = (description: string, schema: Type.TSchema) => ({ type: "application/json", schema, description });
const changed = (description: string, data: Type.TSchema) =>
	answer(description, Type.Object({ data, success: Type.Literal(true) }));

export function adminAccountRoutes(deps: AdminAccountDeps): Endpoint[] {
	return [...accountRoutes(deps), ...moneyRoutes(deps), ...keyRoutes(deps)];
}

function accountRoutes(deps: AdminAccountDeps): Endpoint[] {
	return [
		plain({
			...common,
			method: "GET",
			path: "/admin/accounts",
			name: "admin-accounts",
			summary: "List accounts, newest first",
			query: PageSchema,
			answer: answer("A page of accounts", pageAnswer(AccountSchema)),
			run: ({ query }) => listAccounts(query, deps),
		}),
		plain({
			...common,
			method: "POST",
			path: "/admin/accounts",
			name: "admin-accounts",
			summary: "Create an account",
			description: "With an Idempotency-Key the account is created once: a repeat returns the account as it is now.",
			idempotencyKey: "optional",
			body: body(CreateAccountSchema),
			answer: changed("The account", AccountSchema),
			run: (input, call) => createAccount(input.body, call, deps),
		}),
		plain({
			...common,
			method: "GET",
			path: "/admin/accounts/:id",
			name: "admin-account",
			summary: "One account with its balances",
			answer: answer("The account", Type.Object({ data: AccountSchema })),
			run: async ({ params }) => json({ data: accountView(await deps.accounts.show(accountIn(params))) }),
		}),
		plain({
			...common,
			method: "PATCH",
			path: "/admin/accounts/:id",
			name: "admin-account",
			summary: "Change an account: all given members or none",
			description: "Waits at most 5 s for bundled credit that running requests hold.",
			codes: ["BALANCE_IN_USE"],
			errors: [404],
			body: body(ChangeAccountSchema),
			answer: changed("The account as it is now", AccountSchema),
			run: (input, call) => changeAccount(accountIn(input.params), input.body, call, deps),
		}),
	];
}

const MOVES = [
	{ what: "credit", list: "credits", does: "Add prepaid USD credit, once for each Idempotency-Key" },
	{ what: "debit", list: "debits", does: "Take back prepaid USD that no request holds, once for each Idempotency-Key" },
] as const;
const LISTS = ["credits", "debits", "refunds"] as const;

function moneyRoutes(deps: AdminAccountDeps): Endpoint[] {
	const once = {
		...common,
		method: "POST",
		idempotencyKey: "required",
		errors: [404],
		checkRequest: (call: Parameters<typeof requireIdempotencyKey>[0]) => void requireIdempotencyKey(call),
	} as const;
	return [
		...MOVES.map(({ what, list, does }) =>
			plain({
				...once,
				path: `/admin/accounts/:id/${list}`,
				name: `admin-${list}`,
				summary: does,
				...(what === "debit" ? { codes: ["BALANCE_IN_USE"] as const } : {}),
				body: body(MoneySchema),
				answer: changed("What was posted. Each repeat returns the same", BookedSchema),
				run: (input, call) => moveMoney(what, accountIn(input.params), input.body, call, deps),
			}),
		),
		plain({
			...once,
			path: "/admin/accounts/:id/refunds",
			name: "admin-refunds",
			summary: "Refund the charge of a request, or a part of it, once for each Idempotency-Key",
			description:
				"The refund returns to the currencies that were charged, USD first. Diem returns to the day from which it was spent.",
			body: body(RefundSchema),
			answer: changed("What was posted. Each repeat returns the same", RefundedSchema),
			run: (input, call) => refund(accountIn(input.params), input.body, call, deps),
		}),
		...LISTS.map((what) =>
			plain({
				...common,
				method: "GET",
				path: `/admin/accounts/:id/${what}`,
				name: `admin-${what}`,
				summary: `List an account's ${what}, newest first`,
				query: PageSchema,
				answer: answer("One page of them", pageAnswer(MoneyEntrySchema)),
				run: ({ params, query }) => listMoney(what, accountIn(params), query, deps),
			}),
		),
	];
}

function keyRoutes(deps: AdminAccountDeps): Endpoint[] {
	return [
		plain({
			...common,
			method: "GET",
			path: "/admin/accounts/:id/keys",
			name: "admin-keys",
			summary: "List an account's active keys, newest first",
			answer: answer("The account's keys", Type.Object({ object: Type.Literal("list"), data: Type.Array(KeyWithUsageSchema) })),
			run: ({ params }, call) => listKeys(accountIn(params), call, deps),
		}),
		plain({
			...common,
			method: "POST",
			path: "/admin/accounts/:id/keys",
			name: "admin-keys",
			summary: "Create a key for an account",
			errors: [404],
			body: body(CreateCustomerKeySchema, MISNAMED_KEY_FIELDS),
			answer: changed("The key, with its secret", CreatedKeySchema),
			run: (input, call) => createKey(accountIn(input.params), input.body, call, deps),
		}),
		plain({
			...common,
			method: "PATCH",
			path: "/admin/accounts/:id/keys/:keyId",
			name: "admin-key",
			summary: "Change a key of an account",
			description: "Absent members stay unchanged. null clears a member.",
			errors: [404],
			body: body(ChangeCustomerKeySchema, MISNAMED_KEY_FIELDS),
			answer: changed("The key as it is now", KeySchema),
			run: (input, call) => changeKey(accountIn(input.params), input.params.keyId ?? "", input.body, call, deps),
		}),
		plain({
			...common,
			method: "DELETE",
			path: "/admin/accounts/:id/keys/:keyId",
			name: "admin-key",
			summary: "Revoke a key of an account for good",
			answer: answer("The key is revoked", Type.Object({ success: Type.Literal(true) })),
			run: ({ params }) => revokeKey(accountIn(params), params.keyId ?? "", deps),
		}),
	];
}
