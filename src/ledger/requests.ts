/** The record of one request in the books. It holds only metadata; prompts and answers are never stored. */
import type { MoneySource, TokenUsage } from "../journal/records.ts";
import type { StoreDb } from "../store/tables.ts";
import { type Nano, nano } from "./nano.ts";

export interface RequestLine {
	readonly sku: string;
	readonly units: number;
	/** In pico-USD per unit. */
	readonly picoPrice: number;
	readonly amount: Nano;
	/** The source of the money that paid; `overrun` is the operator's. */
	readonly source: MoneySource | "overrun";
}

export interface RequestRecord {
	readonly requestId: string;
	readonly accountId: string;
	readonly keyId: string | null;
	/** UTC day number of the admission. */
	readonly day: number;
	readonly admittedAtMs: number;
	readonly doneAtMs: number;
	readonly bookedAtMs: number;
	readonly route: string;
	readonly model: string | null;
	readonly upstream: string | null;
	readonly status: number;
	readonly hold: Nano;
	readonly price: Nano;
	/** The part of it that was refunded since. */
	readonly refunded: Nano;
	readonly usage: TokenUsage | null;
	readonly lines: readonly RequestLine[];
}

/** Returns the one post of a request, by its X-Request-ID; null if none is applied yet. */
export function findRequest(db: StoreDb, requestId: string): Promise<RequestRecord | null> {
	return db
		.transaction()
		.setAccessMode("read only")
		.execute(async (tx) => {
			const post = await tx.selectFrom("posts").selectAll().where("request_id", "=", requestId).executeTakeFirst();
			if (post === undefined) return null;
			const rows = await tx.selectFrom("movements").selectAll().where("post_id", "=", post.id).orderBy("id").execute();
			const refunds = await tx.selectFrom("refunds").select("amount").where("post_id", "=", post.id).execute();
			return {
				requestId: post.request_id,
				accountId: post.account_id,
				keyId: post.key_id,
				day: Number(post.day),
				admittedAtMs: Number(post.admitted_at),
				doneAtMs: Number(post.done_at),
				bookedAtMs: Number(post.booked_at),
				route: post.route,
				model: post.model,
				upstream: post.upstream,
				status: Number(post.status),
				hold: nano(Number(post.hold)),
				price: nano(Number(post.price)),
				refunded: nano(Number(refunds.reduce((sum, { amount }) => sum + amount, 0n))),
				usage:
					post.prompt_tokens === null
						? null
						: {
								promptTokens: Number(post.prompt_tokens),
								completionTokens: Number(post.completion_tokens),
								cachedTokens: Number(post.cached_tokens),
								cacheWriteTokens: Number(post.cache_write_tokens),
								reasoningTokens: Number(post.reasoning_tokens),
								counted: post.tokens_counted === 1n,
							},
				lines: rows.map((row) => ({
					sku: row.sku ?? "",
					units: Number(row.units),
					picoPrice: Number(row.pico_price),
					amount: nano(Number(row.amount)),
					source: row.kind === "overrun" ? "overrun" : row.unit,
				})),
			};
		});
}
