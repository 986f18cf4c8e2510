import type { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ReadGroup } from "../../journal/index.ts";
import type { MoneySource, PostLine } from "../../journal/records.ts";
import { requestId, SAMPLE_DAY, samplePost } from "../../journal/testing/sample-records.ts";
import { nano, pico, ZERO } from "../../ledger/nano.ts";
import { type AdminStore, createAccount, setAccount } from "../admin.ts";
import { BatchApplier } from "../apply.ts";
import { LeaseBook } from "../leases.ts";
import { latestBoot } from "../node-boot.ts";
import { openDatabase } from "../sqlite/open-database.ts";
import { DAY_MS, StoreClock } from "../store-clock.ts";
import { BooksFolder } from "../testing/books-folder.ts";
import type { StatementEntry } from "./statement.ts";
import { usageHistory } from "./usage-history.ts";
import { usagePage } from "./usage-page.ts";

/** The same books at each run: a seeded generator (mulberry32). */
function seeded(seed: number): (below: number) => number {
	let state = seed;
	return (below) => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
	};
}

const POSTS = 400;
const FIRST_MS = Date.parse("2026-01-31T23:59:00Z");
const CURRENCIES: readonly (MoneySource | null)[] = [null, "usd", "bundled", "diem"];

let books: BooksFolder;
let db: Database;
let admin: AdminStore;
let applier: BatchApplier;
let accountId: string;
let otherId: string;
let nowMs = FIRST_MS;
let seq = 0;

const random = seeded(20_260_131);
const pick = <T>(values: readonly T[]): T => values[random(values.length)] as T;

/** A line paid by one to three units, by none (free), or in part by the operator. */
function line(number: number, sources: readonly MoneySource[]): PostLine {
	const from = sources.map((source) => ({ source, amount: nano(1 + random(1_000)) }));
	return {
		sku: `sku-${number}`,
		units: 1 + random(50),
		picoPrice: pico(1_000),
		from,
		overrun: random(20) === 0 ? nano(5) : ZERO,
	};
}

const SPLITS: readonly (readonly MoneySource[])[] = [
	["usd"],
	["usd"],
	["usd"],
	["diem"],
	["diem", "usd"],
	["bundled"],
	["diem", "bundled", "usd"],
	[],
];

function book(records: readonly object[]): void {
	seq++;
	const group: ReadGroup = {
		seq,
		records: records.map((record) => JSON.stringify(record)),
		bytes: 0,
		end: { segment: 1, offset: 0 },
	};
	applier.apply([group]);
}

function randomPost(number: number, account: string) {
	const lines = Array.from({ length: 1 + random(3) }, (_, index) => line(index, pick(SPLITS)));
	return samplePost(requestId(number), account, { lines, admittedAtMs: nowMs - 100, doneAtMs: nowMs, day: SAMPLE_DAY });
}

beforeAll(async () => {
	books = new BooksFolder();
	admin = books.admin(() => (SAMPLE_DAY - 1) * DAY_MS);
	accountId = (await createAccount(admin, { name: "one", startingCreditUsd: "50" })).id;
	otherId = (await createAccount(admin, { name: "other", startingCreditUsd: "50" })).id;
	for (const id of [accountId, otherId]) await setAccount(admin, id, { stakeDiem: "50", bundledUsd: "50" });
	db = openDatabase(books.dir);
	const clock = new StoreClock(db, () => nowMs);
	const boot = latestBoot(db, clock);
	for (const id of [accountId, otherId])
		new LeaseBook(db, boot, clock).acquire({ accountId: id, day: SAMPLE_DAY, needNano: nano(1) });
	applier = new BatchApplier(db, boot, clock);
	for (let number = 0; number < POSTS; number += 8) {
		const batch: object[] = Array.from({ length: 8 }, (_, index) =>
			randomPost(number + index, random(5) === 0 ? otherId : accountId),
		);
		// A record at fault undoes its batch for a moment: the numbers must not notice.
		if (random(4) === 0) batch.splice(random(8), 0, { ...randomPost(9_000 + number, accountId), priceNano: 1 });
		book(batch);
		nowMs += random(3) === 0 ? 0 : random(5_000);
	}
});

afterAll(async () => {
	db.close();
	await books.remove();
});

/** The same, from the movements alone. */
function expected(account: string, currency: MoneySource | null) {
	return db
		.query<{ booked_at: bigint; sku: string; amount: bigint; unit: MoneySource; request_id: string }, [string]>(
			`SELECT movements.booked_at, sku, amount, unit, request_id FROM movements JOIN posts ON posts.id = post_id
				WHERE kind = 'charge' AND debit = ? ORDER BY movements.id`,
		)
		.all(account)
		.filter((row) => currency === null || row.unit === currency)
		.map((row) => [Number(row.booked_at), row.request_id, row.sku, row.unit, Number(row.amount)] as const);
}

const told = (entries: readonly StatementEntry[]) =>
	entries.map((entry) => [entry.bookedAtMs, entry.requestId, entry.sku, entry.source, entry.amount] as const);

const page = { fromMs: null, toMs: null, order: "asc", offset: 0, limit: 10_000 } as const;

describe("a page by its place", () => {
	test("of everything is every charge, in the order of booking, in all units and in each", async () => {
		for (const account of [accountId, otherId]) {
			for (const currency of CURRENCIES) {
				const all = expected(account, currency);
				expect(all.length).toBeGreaterThan(20);
				const found = await usagePage(admin, { ...page, accountId: account, currency });
				expect(told(found.entries)).toEqual(all);
				expect(found.total).toBe(all.length);
			}
		}
	});

	test("is the same slice of the same list wherever it begins, both ways", async () => {
		for (const currency of CURRENCIES) {
			const all = expected(accountId, currency);
			for (let round = 0; round < 60; round++) {
				const offset = random(all.length + 5);
				const limit = 1 + random(30);
				const ascending = await usagePage(admin, { ...page, accountId, currency, offset, limit });
				expect(told(ascending.entries)).toEqual(all.slice(offset, offset + limit));
				const descending = await usagePage(admin, { ...page, accountId, currency, offset, limit, order: "desc" });
				expect(told(descending.entries)).toEqual(all.toReversed().slice(offset, offset + limit));
			}
		}
	});

	test("keeps to instants, the first inclusive, the last exclusive", async () => {
		for (const currency of CURRENCIES) {
			const all = expected(accountId, currency);
			for (let round = 0; round < 60; round++) {
				const fromMs = pick([null, FIRST_MS - 1, FIRST_MS + random(nowMs - FIRST_MS), pick(all)[0], nowMs + 1]);
				const toMs = pick([null, FIRST_MS - 1, FIRST_MS + random(nowMs - FIRST_MS), pick(all)[0], nowMs + 1]);
				const within = all.filter(([at]) => at >= (fromMs ?? 0) && at < (toMs ?? Number.POSITIVE_INFINITY));
				const found = await usagePage(admin, { ...page, accountId, currency, fromMs, toMs, limit: 7 });
				expect(told(found.entries)).toEqual(within.slice(0, 7));
				expect(found.total).toBe(within.length);
			}
		}
	});

	test("of an account without charges is empty", async () => {
		const empty = await usagePage(admin, { ...page, accountId: "acc_none", currency: null });
		expect(empty).toEqual({ entries: [], total: 0 });
	});
});

describe("pages that follow each other", () => {
	test("neither skip nor repeat an entry while posts of all units are booked between them", async () => {
		for (const currency of CURRENCIES) {
			const seen: ReturnType<typeof told>[number][] = [];
			let after: number | null = null;
			for (let pages = 0; ; pages++) {
				const found: Awaited<ReturnType<typeof usageHistory>> = await usageHistory(admin, {
					accountId,
					currency,
					fromMs: null,
					toMs: null,
					after,
					limit: 1 + random(40),
				});
				seen.push(...told(found.entries));
				after = found.next;
				if (after === null) break;
				if (pages < 10) book([randomPost(100_000 + seq, accountId), randomPost(200_000 + seq, otherId)]);
				nowMs += random(2);
			}
			expect(seen).toEqual(expected(accountId, currency));
		}
	});

	test("end before an instant, also where entries come later", async () => {
		const toMs = nowMs + 1;
		const before = expected(accountId, null).length;
		const first = await usageHistory(admin, { accountId, currency: null, fromMs: null, toMs, after: null, limit: before - 3 });
		expect(first.next).toBe(before - 3);
		nowMs += 10;
		book([randomPost(300_000, accountId)]);
		const second = await usageHistory(admin, { accountId, currency: null, fromMs: null, toMs, after: first.next, limit: 1_000 });
		expect(second.entries.length).toBe(3);
		expect(second.next).toBeNull();
	});
});

test("numbers go on without a hole after a restart", () => {
	const clock = new StoreClock(db, () => nowMs);
	applier = new BatchApplier(db, latestBoot(db, clock), clock);
	book([randomPost(400_000, accountId), randomPost(400_001, accountId)]);
	const holes = db.query(
		`SELECT posts.id FROM (SELECT id, entries, coalesce(lag(entries) OVER (PARTITION BY account_id ORDER BY id), 0) AS before FROM posts
			WHERE entries IS NOT NULL) AS posts
			WHERE entries - before <> (SELECT count(*) FROM movements WHERE post_id = posts.id AND kind = 'charge')`,
	);
	expect(holes.all()).toEqual([]);
});
