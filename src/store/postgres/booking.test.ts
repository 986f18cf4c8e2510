import { afterAll, beforeAll } from "bun:test";
import { once, type PostgresCluster, startPostgres } from "../../../test/support/postgres-cluster.ts";
import { SAMPLE_DAY } from "../../journal/testing/sample-records.ts";
import { testBooking } from "../testing/booking-contract.ts";
import { BooksFolder } from "../testing/books-folder.ts";
import { BatchApplier } from "./batch-applier.ts";
import { startBoot } from "./boots.ts";
import { connect } from "./connect.ts";
import { LeaseBook } from "./lease-book.ts";
import { migrate } from "./migrate.ts";

let cluster: PostgresCluster;

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

testBooking(async () => {
	const books = new BooksFolder(await cluster.newDatabase());
	await once(books.place, migrate);
	const sql = connect(books.place, { max: 2, name: "test" });
	const boot = await startBoot(sql, { id: "node_a", epoch: 0, appliedSeq: 0 }, 60_000);
	const leases = new LeaseBook(boot);
	const applier = new BatchApplier(boot);
	return {
		books,
		apply: async (groups) => void (await applier.apply(sql, groups)),
		appliedSeq: async () => Number((await sql.unsafe("SELECT applied_seq FROM nodes"))[0].applied_seq),
		all: async (query) => [...(await sql.unsafe(query))],
		lease: async (accountId, needNano) =>
			void (await leases.trip(sql, [{ name: "acquire", arguments: { accountId, day: SAMPLE_DAY, needNano } }], 1)),
		keep: async (accountId, amount) =>
			void (await leases.trip(
				sql,
				[{ name: "giveBack", arguments: { accountId, kept: [{ source: "usd", day: 0, amount }] } }],
				1,
			)),
		close: () => sql.close(),
	};
});
