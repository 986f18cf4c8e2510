/** Posts and their charges as lines of an archive. */
import type { StoreDb } from "../tables.ts";

export const ARCHIVED_POST_COLUMNS = [
	"id",
	"request_id",
	"node_id",
	"epoch",
	"seq",
	"account_id",
	"key_id",
	"day",
	"admitted_at",
	"done_at",
	"booked_at",
	"route",
	"model",
	"upstream",
	"status",
	"hold",
	"price",
	"prompt_tokens",
	"completion_tokens",
	"cached_tokens",
	"cache_write_tokens",
	"reasoning_tokens",
	"tokens_counted",
	"entries",
	"entries_usd",
	"entries_bundled",
	"entries_diem",
] as const;

export const ARCHIVED_MOVEMENT_COLUMNS = [
	"id",
	"kind",
	"debit",
	"credit",
	"amount",
	"unit",
	"sku",
	"units",
	"pico_price",
	"day",
	"occurred_at",
	"booked_at",
	"balance_after",
] as const;

export interface ArchivedRow {
	readonly postId: number;
	readonly bookedAtMs: number;
	readonly movements: number;
	/** JSON: `{"post":{...},"movements":[{...}]}`; members have the names of the store's columns. */
	readonly line: string;
}

/** Returns at most `limit` posts with ids above `after`, up to `last`, in the order of their ids. */
export async function readArchivedRows(db: StoreDb, after: number, last: number, limit: number): Promise<ArchivedRow[]> {
	const posts = await db
		.selectFrom("posts")
		.select(ARCHIVED_POST_COLUMNS)
		.where("id", ">", BigInt(after))
		.where("id", "<=", BigInt(last))
		.orderBy("id")
		.limit(limit)
		.execute();
	const end = posts.at(-1)?.id;
	if (end === undefined) return [];
	const movements = await db
		.selectFrom("movements")
		.select(["post_id", ...ARCHIVED_MOVEMENT_COLUMNS])
		.where("post_id", ">", BigInt(after))
		.where("post_id", "<=", end)
		.orderBy("post_id")
		.orderBy("id")
		.execute();
	const ofPost = Map.groupBy(movements, (row) => row.post_id);
	return posts.map((post) => {
		const parts = ofPost.get(post.id) ?? [];
		const line = JSON.stringify({ post, movements: parts.map(({ post_id: _, ...part }) => part) }, plainNumber);
		return { postId: Number(post.id), bookedAtMs: Number(post.booked_at), movements: parts.length, line };
	});
}

/** Writes integers as JSON numbers where a double holds them, else as text. */
function plainNumber(_: string, value: unknown): unknown {
	if (typeof value !== "bigint") return value;
	return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}
