import { SAMPLE_DAY } from "../../journal/testing/sample-records.ts";
import { BatchApplier } from "../core/batch-applier.ts";
import { testPosting } from "../testing/posting-contract.ts";
import { StoreFolder } from "../testing/store-folder.ts";
import { BatchRows } from "./batch-rows.ts";
import { latestEpoch, nodeIdOf } from "./epochs.ts";
import { LeaseRepository } from "./lease-repository.ts";
import { openDatabase } from "./open-database.ts";
import { StoreClock } from "./store-clock.ts";

testPosting(async () => {
	const books = new StoreFolder();
	const db = openDatabase(books.dir);
	const clock = new StoreClock(db);
	const boot = latestEpoch(db, clock, nodeIdOf(db));
	const leases = new LeaseRepository(db, boot, clock);
	const applier = new BatchApplier(new BatchRows(db, boot, clock));
	return {
		books,
		apply: async (groups) => void (await applier.apply(db, groups)),
		appliedSeq: async () => latestEpoch(db, clock, nodeIdOf(db)).appliedSeq,
		all: async (query) => db.query<Record<string, unknown>, []>(query).all(),
		lease: async (accountId, needNano) =>
			void leases.execute([{ name: "acquire", arguments: { accountId, day: SAMPLE_DAY, needNano } }]),
		keep: async (accountId, amount) =>
			void leases.execute([{ name: "giveBack", arguments: { accountId, retained: [{ source: "usd", day: 0, amount }] } }]),
		close: async () => db.close(),
	};
});
