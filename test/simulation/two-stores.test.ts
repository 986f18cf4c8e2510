/**
 * The same random journal applied to SQLite and to PostgreSQL: after each batch every row of both is the same. Batches
 * come again, and behind a hole.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type PostgresCluster, startPostgres } from "../support/postgres-cluster.ts";
import { type ComparedStore, postgresStore, rowsOf, START, sqliteStore } from "./compared-stores.ts";
import { History } from "./history.ts";

const BATCHES = 100;

let cluster: PostgresCluster;

beforeAll(async () => {
	cluster = await startPostgres({ fsync: "off" });
});

afterAll(() => cluster.stop());

test.each([1, 2, 3, 4])("the journal of seed %p leaves the same rows in SQLite and in PostgreSQL", async (seed) => {
	const stores = [sqliteStore(), await postgresStore(await cluster.newDatabase())] as const;
	try {
		for (const store of stores) for (const statement of START) await store.run(statement);
		const history = new History(seed);
		for (let batch = 0; batch < BATCHES; batch++) {
			const changes = history.leaseChanges();
			const groups = history.groups();
			const outcome = async (store: ComparedStore) => {
				for (const change of changes) await store.run(change);
				const applied = await store.apply(groups).catch((error: Error) => error.name);
				return { batch, applied, rows: await rowsOf(store) };
			};
			expect(await outcome(stores[0])).toEqual(await outcome(stores[1]));
		}
		const { posts, rejected, movements } = (await rowsOf(stores[0])) as Record<string, unknown[]>;
		for (const rows of [posts, rejected, movements]) expect(rows?.length).toBeGreaterThan(10);
	} finally {
		for (const store of stores) await store.close();
	}
});
