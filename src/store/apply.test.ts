import type { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { ReadGroup } from "../journal/index.ts";
import type { JournalRecord } from "../journal/records.ts";
import { requestId, SAMPLE_DAY, SAMPLE_PRICE, sampleLine, samplePost, sampleTouch } from "../journal/testing/sample-records.ts";
import { NANO_PER_USD, nano, pico } from "../ledger/index.ts";
import { createKey } from "./admin.ts";
import { BatchApplier, SequenceError } from "./apply.ts";
import { LeaseBook } from "./leases.ts";
import { latestBoot } from "./node-boot.ts";
import { openDatabase } from "./sqlite/open-database.ts";
import { StoreClock } from "./store-clock.ts";
import { BooksFolder } from "./testing/books-folder.ts";

let books: BooksFolder;
let db: Database;
let accountId: string;
let applier: BatchApplier;
let nowMs: number;

beforeEach(async () => {
	books = new BooksFolder();
	accountId = await books.account();
	db = openDatabase(books.dir);
	nowMs = Date.now();
	const clock = new StoreClock(db, () => nowMs);
	const boot = latestBoot(db, clock);
	new LeaseBook(db, boot, clock).acquire({ accountId, day: SAMPLE_DAY, needNano: nano(1) });
	applier = new BatchApplier(db, boot, clock);
});

afterEach(async () => {
	db.close();
	await books.remove();
});

function group(seq: number, ...records: (JournalRecord | string)[]): ReadGroup {
	const texts = records.map((record) => (typeof record === "string" ? record : JSON.stringify(record)));
	return { seq, records: texts, bytes: 0, end: { segment: 1, offset: 0 } };
}

const all = (query: string) => db.query<Record<string, unknown>, []>(query).all();
const ids = () => all("SELECT request_id FROM posts ORDER BY id").map((row) => row.request_id);
const balance = () => Number(all("SELECT balance FROM budgets WHERE source = 'usd'")[0]?.balance);
const post = (number: number, changes: Parameters<typeof samplePost>[2] = {}) =>
	samplePost(requestId(number), accountId, changes);

describe("a batch", () => {
	test("that comes again is booked once, also where it comes with more", async () => {
		const first = [group(1, post(1), post(2)), group(2, post(3))];
		applier.apply(first);
		applier.apply(first);
		applier.apply([...first, group(3, post(4))]);
		expect(ids()).toEqual([1, 2, 3, 4].map(requestId));
		expect(balance()).toBe(100 * NANO_PER_USD - 4 * SAMPLE_PRICE);
		expect(applier.appliedSeq()).toBe(3);
		expect((await books.audit()).findings).toEqual([]);
	});

	test("with a hole before it or inside it is refused as a whole", () => {
		expect(() => applier.apply([group(2, post(1))])).toThrow(SequenceError);
		expect(() => applier.apply([group(1, post(1)), group(3, post(2))])).toThrow(SequenceError);
		expect(ids()).toEqual([]);
		expect(applier.appliedSeq()).toBe(0);
	});

	test("isolates the records at fault, books the others, and makes the audit fail", async () => {
		const faulty: [string, JournalRecord | string][] = [
			["UNIQUE constraint failed: posts.request_id", post(3)],
			["FOREIGN KEY constraint failed", { ...post(100, { lines: [] }), accountId: "acc_none" }],
			["FOREIGN KEY constraint failed", { ...post(101), accountId: "acc_none" }],
			["has no bundled budget", post(102, { lines: [sampleLine("a", 1, pico(1_000), "bundled")] })],
			["has no diem budget", post(103, { lines: [sampleLine("a", 1, pico(1_000), "diem")] })],
			["CHECK constraint failed", post(104, { lines: [sampleLine("a", 200_000_000, pico(1_000_000))] })],
			["the lines sum to 4000", { ...post(105), priceNano: nano(4_001) }],
			["not an amount", post(106, { lines: [{ ...sampleLine("a", 1, pico(1_000)), overrun: -1 as never }] })],
			["not an amount", post(107, { lines: [{ ...sampleLine("a", 1, pico(1_000)), units: 1.5 }] })],
			["a part of 0", post(108, { lines: [{ ...sampleLine("a", 1, pico(1_000)), from: [{ source: "usd", amount: nano(0) }] }] })],
			[
				"unknown source gold",
				post(109, { lines: [{ ...sampleLine("a", 1, pico(1_000)), from: [{ source: "gold" as never, amount: nano(1) }] }] }),
			],
			["NOT NULL constraint failed", { ...post(110), route: null as never }],
			["unknown kind", { t: "nothing" } as never],
			["JSON", '{"t":"post","id":'],
			["", "null"],
		];
		const good = Array.from({ length: 30 }, (_, number) => post(number));
		const mixed = good.flatMap((record, index) => {
			const bad = faulty[Math.floor(index / 2) - 2];
			return index % 2 === 0 && bad !== undefined ? [record, bad[1]] : [record];
		});
		applier.apply([
			group(1, ...mixed.slice(0, 20)),
			group(2, ...mixed.slice(20), ...faulty.slice(13).map(([, record]) => record)),
		]);
		expect(ids()).toEqual(good.map((record) => record.id));
		expect(balance()).toBe(100 * NANO_PER_USD - 30 * SAMPLE_PRICE);
		const rejected = all("SELECT error, record FROM rejected ORDER BY id");
		expect(rejected.length).toBe(faulty.length);
		for (const [index, [error, record]] of faulty.entries()) {
			expect(String(rejected[index]?.error)).toContain(error);
			expect(rejected[index]?.record).toBe(typeof record === "string" ? record : JSON.stringify(record));
		}
		const { ok, findings } = await books.audit();
		expect(ok).toBe(false);
		expect(new Set(findings.map((finding) => finding.check))).toEqual(new Set(["rejected"]));
		expect(findings.length).toBe(faulty.length);
	});

	test("whose records are all at fault still moves the sequence on", () => {
		applier.apply([group(1, "x", "y"), group(2, "z")]);
		expect(applier.appliedSeq()).toBe(2);
		expect(all("SELECT seq FROM rejected ORDER BY id").map((row) => row.seq)).toEqual([1n, 1n, 2n]);
	});

	test("of which the store takes nothing leaves nothing, and can be booked later", () => {
		db.run("PRAGMA max_page_count = 1");
		const pages = Number(all("PRAGMA page_count")[0]?.page_count);
		db.run(`PRAGMA max_page_count = ${pages}`);
		const many = Array.from({ length: 2_000 }, (_, number) => post(number, { model: "m".repeat(200) }));
		expect(() => applier.apply([group(1, ...many)])).toThrow("full");
		expect(applier.appliedSeq()).toBe(0);
		expect([ids(), all("SELECT * FROM rejected")]).toEqual([[], []]);
		db.run("PRAGMA max_page_count = 1000000");
		applier.apply([group(1, ...many)]);
		expect(ids().length).toBe(2_000);
	});
});

describe("a post", () => {
	test("becomes one movement for each sku and source, with the balance after it", async () => {
		const bundled = nano(50);
		db.run("INSERT INTO budgets (account_id, source, day, balance, leased) VALUES (?, 'bundled', 0, 50, 50)", [accountId]);
		db.run(`INSERT INTO movements (kind, debit, credit, amount, unit, day, occurred_at, booked_at, balance_after)
			VALUES ('grant', 'issued', '${accountId}', 50, 'bundled', 0, 0, 0, 50)`);
		db.run("INSERT INTO leases SELECT node_id, epoch, account_id, 'bundled', 0, 50 FROM leases");
		const lines = [
			{
				sku: "in",
				units: 10,
				picoPrice: pico(8_000),
				from: [
					{ source: "bundled" as const, amount: bundled },
					{ source: "usd" as const, amount: nano(30) },
				],
				overrun: nano(0),
			},
			{ sku: "out", units: 7, picoPrice: pico(10_000), from: [{ source: "usd" as const, amount: nano(60) }], overrun: nano(10) },
			{ sku: "cached", units: 3, picoPrice: pico(0), from: [], overrun: nano(0) },
			{ sku: "unused", units: 0, picoPrice: pico(5), from: [], overrun: nano(0) },
		];
		applier.apply([group(1, post(1, { lines, keyId: "key" }))]);
		const usd = 100 * NANO_PER_USD;
		const movements = all(
			"SELECT kind, debit, credit, unit, sku, amount, units, balance_after FROM movements WHERE post_id IS NOT NULL",
		);
		expect(
			movements.map((row) => Object.values(row).map((value) => (typeof value === "bigint" ? Number(value) : value))),
		).toEqual([
			["charge", accountId, "revenue", "bundled", "in", 50, 6, 0],
			["charge", accountId, "revenue", "usd", "in", 30, 4, usd - 30],
			["charge", accountId, "revenue", "usd", "out", 60, 6, usd - 90],
			["overrun", "overrun", "revenue", "usd", "out", 10, 1, null],
		]);
		const daily = all("SELECT key_id, unit, sku, amount, units, rows FROM usage_daily ORDER BY sku, unit");
		expect(daily.map((row) => Object.values(row).map((value) => (typeof value === "bigint" ? Number(value) : value)))).toEqual([
			["key", "free", "cached", 0, 3, 1],
			["key", "bundled", "in", 50, 6, 1],
			["key", "usd", "in", 30, 4, 1],
			["key", "overrun", "out", 10, 1, 1],
			["key", "usd", "out", 60, 6, 1],
		]);
		expect((await books.audit()).findings).toEqual([]);
	});

	test("among many of its batch has the balance after its own movements, not after the batch's", async () => {
		const bundled = nano(10_000);
		db.run("INSERT INTO budgets (account_id, source, day, balance, leased) VALUES (?, 'bundled', 0, 10000, 10000)", [accountId]);
		db.run(`INSERT INTO movements (kind, debit, credit, amount, unit, day, occurred_at, booked_at, balance_after)
			VALUES ('grant', 'issued', '${accountId}', ${bundled}, 'bundled', 0, 0, 0, ${bundled})`);
		db.run("INSERT INTO leases SELECT node_id, epoch, account_id, 'bundled', 0, 10000 FROM leases");
		const other = await books.account();
		const boot = latestBoot(db, new StoreClock(db));
		new LeaseBook(db, boot, new StoreClock(db)).acquire({ accountId: other, day: SAMPLE_DAY, needNano: nano(1) });
		const line = (source: "usd" | "bundled") => sampleLine("a", 1, pico(1_000_000), source);
		applier.apply([
			group(1, post(1, { lines: [line("usd"), line("bundled")] }), samplePost(requestId(2), other, { lines: [line("usd")] })),
			group(2, post(3, { lines: [line("bundled")] }), post(4, { lines: [line("usd"), line("usd")] })),
		]);
		const usd = 100 * NANO_PER_USD;
		const movements = all("SELECT post_id, unit, balance_after FROM movements WHERE kind = 'charge' ORDER BY id");
		expect(movements.map((row) => [Number(row.post_id), row.unit, Number(row.balance_after)])).toEqual([
			[1, "usd", usd - 1_000],
			[1, "bundled", 9_000],
			[2, "usd", usd - 1_000],
			[3, "bundled", 8_000],
			[4, "usd", usd - 2_000],
			[4, "usd", usd - 3_000],
		]);
		expect((await books.audit()).findings).toEqual([]);
	});

	test("of more skus than a batch looks for at once is counted in full", async () => {
		const lines = Array.from({ length: 100 }, (_, number) => sampleLine(`sku-${number % 50}`, 1, pico(1_000)));
		applier.apply([group(1, ...Array.from({ length: 5 }, (_, number) => post(number, { lines })))]);
		expect(all("SELECT count(*) AS skus, sum(units) AS units, sum(rows) AS rows FROM usage_daily")).toEqual([
			{ skus: 50n, units: 500n, rows: 500n },
		]);
		expect((await books.audit()).findings).toEqual([]);
	});

	test("whose units sum past 2^53 with its batch's is counted to the unit", async () => {
		const line = { ...sampleLine("a", Number.MAX_SAFE_INTEGER - 1, pico(0)), overrun: nano(0) };
		applier.apply([group(1, ...Array.from({ length: 5 }, (_, number) => post(number, { lines: [line] })))]);
		expect(all("SELECT units, rows FROM usage_daily")).toEqual([{ units: 5n * BigInt(Number.MAX_SAFE_INTEGER - 1), rows: 5n }]);
		expect((await books.audit()).findings).toEqual([]);
	});

	test("at price 0 has its record, is counted for the day, and moves nothing", async () => {
		applier.apply([group(1, post(1, { lines: [], usage: null }), post(2, { lines: [] }))]);
		expect(all("SELECT request_id, price FROM posts")).toEqual([1, 2].map((at) => ({ request_id: requestId(at), price: 0n })));
		expect(all("SELECT unit, sku, amount, rows FROM usage_daily")).toEqual([{ unit: "free", sku: "chat", amount: 0n, rows: 2n }]);
		expect(balance()).toBe(100 * NANO_PER_USD);
		expect((await books.audit()).findings).toEqual([]);
	});

	test("may be as large as amounts go", async () => {
		const most = nano(100 * NANO_PER_USD);
		const line = {
			sku: "a",
			units: Number.MAX_SAFE_INTEGER,
			picoPrice: pico(1),
			from: [{ source: "usd" as const, amount: most }],
			overrun: nano(8_907_199_254_740_991),
		};
		applier.apply([group(1, post(1, { lines: [line] }))]);
		expect(balance()).toBe(0);
		expect(all("SELECT sum(units) AS units FROM movements")).toEqual([{ units: BigInt(Number.MAX_SAFE_INTEGER) }]);
		expect((await books.audit()).findings).toEqual([]);
	});
});

test("the use of a key is noted once for a batch, and never goes back", async () => {
	const key = await createKey(books.admin(), { accountId, type: "INFERENCE", hash: "a".repeat(64), last6: "abcdef" });
	applier.apply([group(1, sampleTouch(key.id, 5_000), sampleTouch(key.id, 7_000), sampleTouch(key.id, 6_000))]);
	applier.apply([group(2, sampleTouch(key.id, 1_000))]);
	expect(all("SELECT last_used_at FROM keys")).toEqual([{ last_used_at: 7_000n }]);
});

test("booking instants do not go back with the clock", () => {
	applier.apply([group(1, post(1))]);
	const first = nowMs;
	nowMs -= 3_600_000;
	applier.apply([group(2, post(2), sampleTouch("none", 1))]);
	const later = new StoreClock(db, () => nowMs);
	expect(later.bookingMs()).toBe(first);
	nowMs = first + 1;
	applier.apply([group(3, post(3))]);
	expect(all("SELECT booked_at FROM posts ORDER BY id").map((row) => Number(row.booked_at))).toEqual([first, first, first + 1]);
	expect(all("SELECT booked_at FROM movements WHERE post_id IS NULL OR post_id > 0 ORDER BY id").length).toBe(7);
});

test("rows of the books cannot be changed or deleted", () => {
	applier.apply([group(1, post(1))]);
	for (const table of ["movements", "posts", "credits"]) {
		expect(() => db.run(`DELETE FROM ${table}`)).toThrow("never deleted");
	}
	expect(() => db.run("UPDATE movements SET amount = 1")).toThrow("never changed");
	expect(() => db.run("UPDATE posts SET price = 1")).toThrow("never changed");
	expect(() => db.run("UPDATE budgets SET balance = -1")).toThrow("CHECK");
	expect(() => db.run("UPDATE budgets SET leased = balance + 1")).toThrow("CHECK");
});
