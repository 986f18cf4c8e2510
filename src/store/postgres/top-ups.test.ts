import { afterAll, beforeAll } from "bun:test";
import { type PostgresCluster, startPostgres } from "../../../test/support/postgres-cluster.ts";
import { SAMPLE_DAY } from "../../journal/testing/sample-records.ts";
import { NANO_PER_USD, nano } from "../../ledger/nano.ts";
import { BatchApplier } from "../core/batch-applier.ts";
import { StoreFolder } from "../testing/store-folder.ts";
import { testTopUps } from "../testing/top-ups-contract.ts";
import { batchRows } from "./batch-rows.ts";
import { connect } from "./connect.ts";
import { startEpoch } from "./epochs.ts";
import { LeaseRepository } from "./lease-repository.ts";

let cluster: PostgresCluster;

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

testTopUps(async () => {
	const books = new StoreFolder(await cluster.newDatabase());
	await books.admin().db.selectFrom("accounts").select("id").execute();
	const sql = connect(books.place, { max: 2, name: "test" });
	const boot = await startEpoch(sql, { id: "node_a", epoch: 0, appliedSeq: 0 }, 600_000);
	const applier = new BatchApplier(batchRows(boot));
	return {
		books,
		async lease(accountIds) {
			for (const accountId of accountIds)
				await new LeaseRepository(boot).execute(
					sql,
					[{ name: "acquire", arguments: { accountId, day: SAMPLE_DAY, needNano: nano(NANO_PER_USD) } }],
					1,
				);
		},
		async book(groups) {
			await applier.apply(sql, groups);
		},
		async restart() {},
		async close() {
			await sql.close();
			await books.remove();
		},
	};
});
