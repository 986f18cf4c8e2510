import { SAMPLE_DAY } from "../../journal/testing/sample-records.ts";
import { nano } from "../../ledger/nano.ts";
import { BatchApplier } from "../apply.ts";
import { LeaseBook } from "../leases.ts";
import { latestBoot } from "../node-boot.ts";
import { openDatabase } from "../sqlite/open-database.ts";
import { StoreClock } from "../store-clock.ts";
import { BooksFolder } from "../testing/books-folder.ts";
import { testStatement } from "../testing/statement-contract.ts";

testStatement(async () => {
	const books = new BooksFolder();
	const db = openDatabase(books.dir);
	let nowMs = Date.parse("2026-01-31T23:59:00Z");
	const clock = new StoreClock(db, () => nowMs);
	const boot = latestBoot(db, clock);
	let applier = new BatchApplier(db, boot, clock);
	let booked = 0;
	return {
		books,
		async lease(accountIds) {
			for (const accountId of accountIds)
				new LeaseBook(db, boot, clock).acquire({ accountId, day: SAMPLE_DAY, needNano: nano(1) });
		},
		async book(groups) {
			// Some batches are booked within one millisecond.
			if (++booked % 3 !== 0) nowMs += booked % 7 === 0 ? 40_000 : 17;
			applier.apply(groups);
		},
		async restart() {
			applier = new BatchApplier(db, latestBoot(db, clock), clock);
		},
		async close() {
			db.close();
			await books.remove();
		},
	};
});
