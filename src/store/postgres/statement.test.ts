import { afterAll, beforeAll } from "bun:test";
import { type PostgresCluster, startPostgres } from "../../../test/support/postgres-cluster.ts";
import { SAMPLE_DAY } from "../../journal/testing/sample-records.ts";
import { NANO_PER_USD, nano } from "../../ledger/nano.ts";
import { BatchApplier } from "../core/batch-applier.ts";
import { testStatement } from "../testing/statement-contract.ts";
import { StoreFolder } from "../testing/store-folder.ts";
import { batchRows } from "./batch-rows.ts";
import { connect } from "./connect.ts";
import { startEpoch } from "./epochs.ts";
import { LeaseRepository } from "./lease-repository.ts";

const ALL_MONEY = nano(150 * NANO_PER_USD);
let cluster: PostgresCluster;

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

testStatement(async () => {
	const books = new StoreFolder(await cluster.newDatabase());
	const made = books.admin();
	await made.db.selectFrom("accounts").select("id").execute();
	const sql = connect(books.place, { max: 2, name: "test" });
	const boot = await startEpoch(sql, { id: "node_a", epoch: 0, appliedSeq: 0 }, 600_000);
	let applier = new BatchApplier(batchRows(boot));
	return {
		books,
		async lease(accountIds) {
			for (const accountId of accountIds)
				await new LeaseRepository(boot).execute(
					sql,
					[{ name: "acquire", arguments: { accountId, day: SAMPLE_DAY, needNano: ALL_MONEY } }],
					1,
				);
		},
		async book(groups) {
			await applier.apply(sql, groups);
		},
		async restart() {
			applier = new BatchApplier(batchRows(boot));
		},
		async close() {
			await sql.close();
			await books.remove();
		},
	};
});
