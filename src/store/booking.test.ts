import { SAMPLE_DAY } from "../journal/testing/sample-records.ts";
import { BatchApplier } from "./apply.ts";
import { LeaseBook } from "./leases.ts";
import { latestBoot } from "./node-boot.ts";
import { openDatabase } from "./sqlite/open-database.ts";
import { StoreClock } from "./store-clock.ts";
import { testBooking } from "./testing/booking-contract.ts";
import { BooksFolder } from "./testing/books-folder.ts";

testBooking(async () => {
	const books = new BooksFolder();
	const db = openDatabase(books.dir);
	const clock = new StoreClock(db);
	const boot = latestBoot(db, clock);
	const leases = new LeaseBook(db, boot, clock);
	const applier = new BatchApplier(db, boot, clock);
	return {
		books,
		apply: async (groups) => applier.apply(groups),
		appliedSeq: async () => applier.appliedSeq(),
		all: async (query) => db.query<Record<string, unknown>, []>(query).all(),
		lease: async (accountId, needNano) => void leases.acquire({ accountId, day: SAMPLE_DAY, needNano }),
		keep: async (accountId, amount) => void leases.giveBack(accountId, [{ source: "usd", day: 0, amount }]),
		close: async () => db.close(),
	};
});
