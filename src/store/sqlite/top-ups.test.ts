import { SAMPLE_DAY } from "../../journal/testing/sample-records.ts";
import { nano } from "../../ledger/nano.ts";
import { BatchApplier } from "../core/batch-applier.ts";
import { StoreFolder } from "../testing/store-folder.ts";
import { testTopUps } from "../testing/top-ups-contract.ts";
import { BatchRows } from "./batch-rows.ts";
import { latestEpoch, nodeIdOf } from "./epochs.ts";
import { LeaseRepository } from "./lease-repository.ts";
import { openDatabase } from "./open-database.ts";
import { StoreClock } from "./store-clock.ts";

testTopUps(async () => {
	const books = new StoreFolder();
	const db = openDatabase(books.dir);
	const clock = new StoreClock(db, Date.now);
	const boot = latestEpoch(db, clock, nodeIdOf(db));
	const applier = new BatchApplier(new BatchRows(db, boot, clock));
	return {
		books,
		async lease(accountIds) {
			for (const accountId of accountIds)
				new LeaseRepository(db, boot, clock).execute([
					{ name: "acquire", arguments: { accountId, day: SAMPLE_DAY, needNano: nano(1) } },
				]);
		},
		async book(groups) {
			await applier.apply(db, groups);
		},
		async restart() {},
		async close() {
			db.close();
			await books.remove();
		},
	};
});
