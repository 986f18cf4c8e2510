import { afterAll, beforeAll } from "bun:test";
import { once, type PostgresCluster, startPostgres } from "../../../test/support/postgres-cluster.ts";
import { SAMPLE_DAY } from "../../journal/testing/sample-records.ts";
import { BatchApplier } from "../core/batch-applier.ts";
import { testPosting } from "../testing/posting-contract.ts";
import { StoreFolder } from "../testing/store-folder.ts";
import { batchRows } from "./batch-rows.ts";
import { connect } from "./connect.ts";
import { startEpoch } from "./epochs.ts";
import { LeaseRepository } from "./lease-repository.ts";
import { migrate } from "./migrate.ts";

let cluster: PostgresCluster;

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

testPosting(async () => {
	const books = new StoreFolder(await cluster.newDatabase());
	await once(books.place, migrate);
	const sql = connect(books.place, { max: 2, name: "test" });
	const boot = await startEpoch(sql, { id: "node_a", epoch: 0, appliedSeq: 0 }, 60_000);
	const leases = new LeaseRepository(boot);
	const applier = new BatchApplier(batchRows(boot));
	return {
		books,
		apply: async (groups) => void (await applier.apply(sql, groups)),
		appliedSeq: async () => Number((await sql.unsafe("SELECT applied_seq FROM nodes"))[0].applied_seq),
		all: async (query) => [...(await sql.unsafe(query))],
		lease: async (accountId, needNano) =>
			void (await leases.execute(sql, [{ name: "acquire", arguments: { accountId, day: SAMPLE_DAY, needNano } }], 1)),
		keep: async (accountId, amount) =>
			void (await leases.execute(
				sql,
				[{ name: "giveBack", arguments: { accountId, retained: [{ source: "usd", day: 0, amount }] } }],
				1,
			)),
		close: () => sql.close(),
	};
});
