import { entryView, moneyEntryView, refundedView } from "../../access/index.ts";
import { ApiError } from "../../errors/index.ts";
import type { Call } from "../../server/call.ts";
import { type Answer, json } from "../../server/endpoint.ts";
import { readIdempotencyKey } from "../../server/index.ts";
import { numberCursor, readNumberCursor } from "./cursor.ts";
import { type AdminAccountDeps, REPLAYED_HEADER } from "./deps.ts";
import { DEFAULT_LIMIT, type Money, type PageQuery, type Refund } from "./schema.ts";

/**
 * Returns the Idempotency-Key.
 * @throws ApiError 400 where it is missing or malformed
 */
export function requireIdempotencyKey({ request }: Call): string {
	const key = readIdempotencyKey(request);
	if (key !== null) return key;
	throw new ApiError("IDEMPOTENCY_KEY_INVALID", {
		message: "This route needs an Idempotency-Key header that names the payment: 1 to 255 of A-Z a-z 0-9 _ and -",
	});
}

/** POST /admin/accounts/{id}/credits and /debits: the key identifies the movement for good. */
export async function moveMoney(
	what: "credit" | "debit",
	accountId: string,
	body: Money,
	call: Call,
	{ accounts }: AdminAccountDeps,
): Promise<Answer> {
	const entry = await accounts[what]({ accountId, amount: body.amountUsd, reference: requireIdempotencyKey(call) });
	return json({ data: entryView(entry), success: true }, 200, entry.replayed ? REPLAYED_HEADER : {});
}

/** POST /admin/accounts/{id}/refunds */
export async function refund(accountId: string, body: Refund, call: Call, { accounts }: AdminAccountDeps): Promise<Answer> {
	const { requestId, amountUsd } = body;
	const part = amountUsd === undefined ? {} : { amount: amountUsd };
	const refunded = await accounts.refund({ accountId, requestId, ...part, reference: requireIdempotencyKey(call) });
	return json({ data: refundedView(refunded), success: true }, 200, refunded.replayed ? REPLAYED_HEADER : {});
}

/** GET /admin/accounts/{id}/credits, /debits and /refunds: newest first. */
export async function listMoney(
	what: "credits" | "debits" | "refunds",
	accountId: string,
	query: PageQuery,
	{ accounts }: AdminAccountDeps,
): Promise<Answer> {
	const before = query.cursor === undefined ? null : readNumberCursor(query.cursor);
	const { entries, more } = await accounts.money({ what, accountId, before, limit: query.limit ?? DEFAULT_LIMIT });
	const last = entries.at(-1);
	const nextCursor = more && last !== undefined ? numberCursor(last.place) : null;
	return json({ object: "list", data: entries.map(moneyEntryView), nextCursor });
}
