import type { MoneySource } from "../../journal/records.ts";
import type { StoreDb } from "../tables.ts";
import { firstIdFrom } from "./posts-by-time.ts";

/** One line of a request: one sku from one source of money. A request at price 0 has one line without a sku. */
export interface ExportedLine {
	readonly bookedAtMs: number;
	readonly requestId: string;
	readonly accountId: string;
	readonly accountName: string;
	readonly keyId: string | null;
	readonly keyDescription: string | null;
	readonly route: string;
	readonly model: string | null;
	readonly upstream: string | null;
	readonly status: number;
	readonly tookMs: number;
	readonly promptTokens: number | null;
	readonly completionTokens: number | null;
	readonly sku: string | null;
	readonly units: number;
	/** In pico-USD per unit. */
	readonly picoPrice: number;
	/** In nano-USD or nano-diem. */
	readonly amount: number;
	/** `overrun` means that the operator paid. null: nothing was to be paid. */
	readonly source: MoneySource | "overrun" | null;
}

export interface ExportRange {
	/** Applied at or after this time, Unix milliseconds; null: from the first. */
	readonly fromMs: number | null;
	/** Applied before this time. */
	readonly toMs: number;
}

/** Most posts in memory at once. */
const CHUNK = 1_000;
/** Several nodes write at the same time: an id may be this much out of the order of instants (docs/money.md). */
const DISORDER_MS = 60_000;

/**
 * Yields the usage of all accounts, in the order of application, chunk by chunk: memory does not grow with the range,
 * and no transaction stays open between two chunks. Applied rows never change, so the chunks are consistent.
 */
export async function* exportUsage(db: StoreDb, { fromMs, toMs }: ExportRange): AsyncGenerator<ExportedLine[]> {
	let after = fromMs === null ? 0 : (await firstIdFrom(db, fromMs - DISORDER_MS)) - 1;
	for (;;) {
		const posts = await readPosts(db, after);
		const last = posts.at(-1);
		if (last === undefined) return;
		const within = posts.filter((post) => Number(post.booked_at) >= (fromMs ?? 0) && Number(post.booked_at) < toMs);
		if (within.length > 0) yield await linesOf(db, within);
		if (Number(last.booked_at) >= toMs + DISORDER_MS) return;
		after = Number(last.id);
	}
}

type PostRow = Awaited<ReturnType<typeof readPosts>>[number];

function readPosts(db: StoreDb, after: number) {
	return db
		.selectFrom("posts")
		.innerJoin("accounts", "accounts.id", "posts.account_id")
		.leftJoin("keys", "keys.id", "posts.key_id")
		.select([
			"posts.id",
			"posts.booked_at",
			"posts.request_id",
			"posts.account_id",
			"accounts.name as account_name",
			"posts.key_id",
			"keys.description as key_description",
			"posts.route",
			"posts.model",
			"posts.upstream",
			"posts.status",
			"posts.admitted_at",
			"posts.done_at",
			"posts.prompt_tokens",
			"posts.completion_tokens",
		])
		.where("posts.id", ">", BigInt(after))
		.orderBy("posts.id")
		.limit(CHUNK)
		.execute();
}

async function linesOf(db: StoreDb, posts: readonly PostRow[]): Promise<ExportedLine[]> {
	const movements = await db
		.selectFrom("movements")
		.select(["post_id", "kind", "sku", "units", "pico_price", "amount", "unit"])
		.where("post_id", ">=", posts[0]?.id ?? 0n)
		.where("post_id", "<=", posts.at(-1)?.id ?? 0n)
		.where("kind", "in", ["charge", "overrun"])
		.orderBy("post_id")
		.orderBy("id")
		.execute();
	const ofPost = Map.groupBy(movements, (row) => Number(row.post_id));
	return posts.flatMap((post): ExportedLine[] => {
		const request = requestOf(post);
		const rows = ofPost.get(Number(post.id));
		if (rows === undefined) return [{ ...request, sku: null, units: 0, picoPrice: 0, amount: 0, source: null }];
		return rows.map((row) => ({
			...request,
			sku: row.sku,
			units: Number(row.units),
			picoPrice: Number(row.pico_price),
			amount: Number(row.amount),
			source: row.kind === "overrun" ? ("overrun" as const) : row.unit,
		}));
	});
}

function requestOf(post: PostRow) {
	return {
		bookedAtMs: Number(post.booked_at),
		requestId: post.request_id,
		accountId: post.account_id,
		accountName: post.account_name,
		keyId: post.key_id,
		keyDescription: post.key_description,
		route: post.route,
		model: post.model,
		upstream: post.upstream,
		status: Number(post.status),
		tookMs: Math.max(0, Number(post.done_at) - Number(post.admitted_at)),
		promptTokens: post.prompt_tokens === null ? null : Number(post.prompt_tokens),
		completionTokens: post.completion_tokens === null ? null : Number(post.completion_tokens),
	};
}
