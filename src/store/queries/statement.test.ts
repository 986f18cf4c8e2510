import { SAMPLE_DAY } from "../../journal/testing/sample-records.ts";
import { nano } from "../../ledger/nano.ts";
import { BatchApplier } from "../core/batch-applier.ts";
import { BatchRows } from "../sqlite/batch-rows.ts";
import { latestEpoch, nodeIdOf } from "../sqlite/epochs.ts";
import { LeaseRepository } from "../sqlite/lease-repository.ts";
import { openDatabase } from "../sqlite/open-database.ts";
import { StoreClock } from "../sqlite/store-clock.ts";
import { testStatement } from "../testing/statement-contract.ts";
import { StoreFolder } from "../testing/store-folder.ts";

testStatement(async () => {
	const books = new StoreFolder();
	const db = openDatabase(books.dir);
	let nowMs = Date.parse("2026-01-31T23:59:00Z");
	const clock = new StoreClock(db, () => nowMs);
	const boot = latestEpoch(db, clock, nodeIdOf(db));
	let applier = new BatchApplier(new BatchRows(db, boot, clock));
	let booked = 0;
	return {
		books,
		async lease(accountIds) {
			for (const accountId of accountIds)
				new LeaseRepository(db, boot, clock).execute([
					{ name: "acquire", arguments: { accountId, day: SAMPLE_DAY, needNano: nano(1) } },
				]);
		},
		async book(groups) {
			// Some batches are applied within one millisecond.
			if (++booked % 3 !== 0) nowMs += booked % 7 === 0 ? 40_000 : 17;
			await applier.apply(db, groups);
		},
		async restart() {
			applier = new BatchApplier(new BatchRows(db, latestEpoch(db, clock, nodeIdOf(db)), clock));
		},
		async close() {
			db.close();
			await books.remove();
		},
	};
});
