import type { StoreDb } from "../tables.ts";

/**
 * Returns the lowest id from which posts were applied at this instant (Unix milliseconds) or later, as far as ids
 * follow the order of instants: several nodes write at the same time. It needs some twenty seeks, at any number of
 * posts.
 */
export async function firstIdFrom(db: StoreDb, ms: number): Promise<number> {
	const newest = await db.selectFrom("posts").select("id").orderBy("id", "desc").limit(1).executeTakeFirst();
	let before = 0;
	let behind = Number(newest?.id ?? 0) + 1;
	while (behind - before > 1) {
		const middle = Math.floor((before + behind) / 2);
		const probe = await db
			.selectFrom("posts")
			.select("booked_at")
			.where("id", ">=", BigInt(middle))
			.orderBy("id")
			.limit(1)
			.executeTakeFirst();
		if (probe !== undefined && Number(probe.booked_at) < ms) before = middle;
		else behind = middle;
	}
	return before + 1;
}
