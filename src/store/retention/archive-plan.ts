import { sql } from "kysely";
import { DAY_MS } from "../core/day.ts";
import type { StoreDb } from "../tables.ts";
import { monthOf, monthStartMs } from "./month.ts";

/** Counts the posts that an archive up to a month would take, by the month of their application; reads all of them. */
export async function planArchives(
	db: StoreDb,
	before: string,
): Promise<readonly { readonly month: string; readonly posts: number }[]> {
	const { rows } = await sql<{ day: bigint; posts: bigint }>`
		SELECT booked_at / ${sql.lit(DAY_MS)} AS day, count(*) AS posts FROM posts
		WHERE booked_at < ${monthStartMs(before)} AND id > coalesce((SELECT max(last_post_id) FROM archives), 0)
		GROUP BY 1 ORDER BY 1`.execute(db);
	const months = new Map<string, number>();
	for (const { day, posts } of rows) {
		const month = monthOf(Number(day) * DAY_MS);
		months.set(month, (months.get(month) ?? 0) + Number(posts));
	}
	return [...months].map(([month, posts]) => ({ month, posts }));
}

/** Returns the last month whose posts are archived, or being archived; null where there is none. */
export async function lastArchivedMonth(db: StoreDb): Promise<string | null> {
	const row = await db
		.selectFrom("archives")
		.select("month")
		.where("state", "<>", "writing")
		.orderBy("month", "desc")
		.limit(1)
		.executeTakeFirst();
	return row?.month ?? null;
}
