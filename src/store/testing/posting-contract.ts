/** How records of the journal become rows of the books, on SQLite and on PostgreSQL. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { ReadGroup } from "../../journal/index.ts";
import type { JournalRecord, PostRecord } from "../../journal/records.ts";
import {
	requestId,
	SAMPLE_DAY,
	SAMPLE_PRICE,
	sampleLine,
	samplePost,
	sampleTouch,
} from "../../journal/testing/sample-records.ts";
import { NANO_PER_USD, type Nano, nano, pico } from "../../ledger/index.ts";
import { createKey, setAccount } from "../admin.ts";
import { SequenceError } from "../core/batch-applier.ts";
import type { StoreFolder } from "./store-folder.ts";

/** An applier over its own books. */
export interface PostingFixture {
	readonly books: StoreFolder;
	apply(groups: readonly ReadGroup[]): Promise<void>;
	appliedSeq(): Promise<number>;
	/** Rows of a query; whole numbers as BigInt. */
	all(query: string): Promise<Record<string, unknown>[]>;
	/** Leases at least this much of an account to the node, in spending order. */
	lease(accountId: string, amount: Nano): Promise<void>;
	/** Cuts the node's lease of USD to an amount. */
	keep(accountId: string, amount: Nano): Promise<void>;
	close(): Promise<void>;
}

const HUNDRED = nano(100 * NANO_PER_USD);

export function group(seq: number, ...records: (JournalRecord | string)[]): ReadGroup {
	const texts = records.map((record) => (typeof record === "string" ? record : JSON.stringify(record)));
	return { seq, records: texts, bytes: 0, end: { segment: 1, offset: 0 } };
}

/** Defines the tests; each gets its own fixture. */
export function testPosting(open: () => Promise<PostingFixture>): void {
	let bench: PostingFixture;
	let accountId: string;

	beforeEach(async () => {
		bench = await open();
		accountId = await bench.books.account();
		await bench.lease(accountId, HUNDRED);
	});

	afterEach(async () => {
		await bench.close();
		await bench.books.remove();
	});

	const post = (number: number, changes: Partial<PostRecord> = {}) => samplePost(requestId(number), accountId, changes);
	const values = (rows: Record<string, unknown>[]) =>
		rows.map((row) => Object.values(row).map((value) => (typeof value === "bigint" ? Number(value) : value)));
	const ids = async () => (await bench.all("SELECT request_id FROM posts ORDER BY id")).map((row) => row.request_id);
	const usd = async () => {
		const [row = []] = values(
			await bench.all(`SELECT balance, leased FROM budgets WHERE source = 'usd' AND account_id = '${accountId}'`),
		);
		return { balance: row[0], leased: row[1] };
	};
	const findings = async () => (await bench.books.audit()).findings;

	async function faultOf(promise: Promise<unknown>): Promise<Error> {
		return promise.then(
			() => new Error("it did not fail"),
			(error: Error) => error,
		);
	}

	describe("a batch", () => {
		test("that comes again is booked once, also where it comes with more", async () => {
			const first = [group(1, post(1), post(2)), group(2, post(3))];
			await bench.apply(first);
			await bench.apply(first);
			await bench.apply([...first, group(3, post(4))]);
			expect(await ids()).toEqual([1, 2, 3, 4].map(requestId));
			expect(await usd()).toEqual({ balance: HUNDRED - 4 * SAMPLE_PRICE, leased: HUNDRED - 4 * SAMPLE_PRICE });
			expect(await bench.appliedSeq()).toBe(3);
			expect(await findings()).toEqual([]);
		});

		test("with a hole before it or inside it is refused as a whole", async () => {
			expect(await faultOf(bench.apply([group(2, post(1))]))).toBeInstanceOf(SequenceError);
			expect(await faultOf(bench.apply([group(1, post(1)), group(3, post(2))]))).toBeInstanceOf(SequenceError);
			expect(await ids()).toEqual([]);
			expect(await bench.appliedSeq()).toBe(0);
		});

		test("whose records are all at fault still moves the sequence on", async () => {
			await bench.apply([group(1, "x", "y"), group(2, "z")]);
			expect(await bench.appliedSeq()).toBe(2);
			expect((await bench.all("SELECT seq FROM rejected ORDER BY id")).map((row) => row.seq)).toEqual([1n, 1n, 2n]);
		});
	});

	describe("a post", () => {
		test("becomes one movement for each sku and source, with the balance after it", async () => {
			await setAccount(bench.books.admin(), accountId, { bundledUsd: "0.00000005" });
			await bench.lease(accountId, nano(50));
			const lines = [
				{
					sku: "in",
					units: 10,
					picoPrice: pico(8_000),
					from: [
						{ source: "bundled" as const, amount: nano(50) },
						{ source: "usd" as const, amount: nano(30) },
					],
					overrun: nano(0),
				},
				{
					sku: "out",
					units: 7,
					picoPrice: pico(10_000),
					from: [{ source: "usd" as const, amount: nano(60) }],
					overrun: nano(10),
				},
				{ sku: "cached", units: 3, picoPrice: pico(0), from: [], overrun: nano(0) },
				{ sku: "unused", units: 0, picoPrice: pico(5), from: [], overrun: nano(0) },
			];
			await bench.apply([group(1, post(1, { lines, keyId: "key" }))]);
			const movements = await bench.all(
				`SELECT kind, debit, credit, unit, sku, amount, units, balance_after FROM movements WHERE post_id IS NOT NULL ORDER BY id`,
			);
			expect(values(movements)).toEqual([
				["charge", accountId, "revenue", "bundled", "in", 50, 6, 0],
				["charge", accountId, "revenue", "usd", "in", 30, 4, HUNDRED - 30],
				["charge", accountId, "revenue", "usd", "out", 60, 6, HUNDRED - 90],
				["overrun", "overrun", "revenue", "usd", "out", 10, 1, null],
			]);
			const daily = await bench.all("SELECT key_id, unit, sku, amount, units, rows FROM usage_daily ORDER BY sku, unit");
			expect(values(daily)).toEqual([
				["key", "free", "cached", 0, 3, 1],
				["key", "bundled", "in", 50, 6, 1],
				["key", "usd", "in", 30, 4, 1],
				["key", "overrun", "out", 10, 1, 1],
				["key", "usd", "out", 60, 6, 1],
			]);
			expect(await findings()).toEqual([]);
		});

		test("among many of its batch has the balance after its own movements, not after the batch's", async () => {
			await setAccount(bench.books.admin(), accountId, { bundledUsd: "0.00001" });
			await bench.lease(accountId, nano(10_000));
			const other = await bench.books.account();
			await bench.lease(other, HUNDRED);
			const line = (source: "usd" | "bundled") => sampleLine("a", 1, pico(1_000_000), source);
			await bench.apply([
				group(1, post(1, { lines: [line("usd"), line("bundled")] }), samplePost(requestId(2), other, { lines: [line("usd")] })),
				group(2, post(3, { lines: [line("bundled")] }), post(4, { lines: [line("usd"), line("usd")] })),
			]);
			const movements = await bench.all("SELECT post_id, unit, balance_after FROM movements WHERE kind = 'charge' ORDER BY id");
			expect(values(movements)).toEqual([
				[1, "usd", HUNDRED - 1_000],
				[1, "bundled", 9_000],
				[2, "usd", HUNDRED - 1_000],
				[3, "bundled", 8_000],
				[4, "usd", HUNDRED - 2_000],
				[4, "usd", HUNDRED - 3_000],
			]);
			expect(await findings()).toEqual([]);
		});

		test("of more skus than a batch looks for at once is counted in full", async () => {
			const lines = Array.from({ length: 100 }, (_, number) => sampleLine(`sku-${number % 50}`, 1, pico(1_000)));
			await bench.apply([group(1, ...Array.from({ length: 5 }, (_, number) => post(number, { lines })))]);
			const sums = "count(*) AS skus, CAST(sum(units) AS BIGINT) AS units, CAST(sum(rows) AS BIGINT) AS rows";
			expect(values(await bench.all(`SELECT ${sums} FROM usage_daily`))).toEqual([[50, 500, 500]]);
			expect(await findings()).toEqual([]);
		});

		test("whose units sum past 2^53 with its batch's is counted to the unit", async () => {
			const line = { ...sampleLine("a", Number.MAX_SAFE_INTEGER - 1, pico(0)), overrun: nano(0) };
			await bench.apply([group(1, ...Array.from({ length: 5 }, (_, number) => post(number, { lines: [line] })))]);
			expect(await bench.all("SELECT units, rows FROM usage_daily")).toEqual([
				{ units: 5n * BigInt(Number.MAX_SAFE_INTEGER - 1), rows: 5n },
			]);
			expect(await findings()).toEqual([]);
		});

		test("at price 0 has its record, is counted for the day, and moves nothing", async () => {
			await bench.apply([group(1, post(1, { lines: [], usage: null }), post(2, { lines: [] }))]);
			expect(values(await bench.all("SELECT request_id, price FROM posts ORDER BY id"))).toEqual([
				[requestId(1), 0],
				[requestId(2), 0],
			]);
			expect(values(await bench.all("SELECT unit, sku, amount, rows FROM usage_daily"))).toEqual([["free", "chat", 0, 2]]);
			expect(await usd()).toEqual({ balance: HUNDRED, leased: HUNDRED });
			expect(await findings()).toEqual([]);
		});

		test("may be as large as amounts go", async () => {
			const line = {
				sku: "a",
				units: Number.MAX_SAFE_INTEGER,
				picoPrice: pico(1),
				from: [{ source: "usd" as const, amount: HUNDRED }],
				overrun: nano(8_907_199_254_740_991),
			};
			await bench.apply([group(1, post(1, { lines: [line] }))]);
			expect(await usd()).toEqual({ balance: 0, leased: 0 });
			expect(await bench.all("SELECT CAST(sum(units) AS BIGINT) AS units FROM movements")).toEqual([
				{ units: BigInt(Number.MAX_SAFE_INTEGER) },
			]);
			expect(await findings()).toEqual([]);
		});

		test("that owes takes what its node was just leased, then free money, never what the node keeps", async () => {
			// Of 100 USD the node has 30, of which it knows 20; 70 are free.
			await bench.keep(accountId, nano(30 * NANO_PER_USD));
			const kept = { diem: 0, bundled: 0, usd: 20 * NANO_PER_USD };
			const owes = (number: number, owed: number, most = Number.MAX_SAFE_INTEGER) =>
				post(number, {
					lines: [{ sku: "a", units: 1_000, picoPrice: pico(1), from: [], owed: nano(owed), overrun: nano(0) }],
					priceNano: nano(owed),
					owing: { kept, most: { diem: 0, usd: most } },
				});
			const dollars = (amount: number) => amount * NANO_PER_USD;
			await bench.apply([
				group(1, owes(1, dollars(15)), owes(2, dollars(25), dollars(5))),
				group(2, post(3, { lines: [sampleLine("b", 1, pico(dollars(10) * 1_000))] }), owes(4, dollars(80))),
			]);
			const rows = await bench.all("SELECT post_id, kind, amount, units FROM movements WHERE post_id IS NOT NULL ORDER BY id");
			expect(values(rows)).toEqual([
				[1, "charge", dollars(10) + dollars(5), 1_000],
				[2, "charge", dollars(5), 200],
				[2, "overrun", dollars(20), 800],
				[3, "charge", dollars(10), 1],
				[4, "charge", dollars(60), 750],
				[4, "overrun", dollars(20), 250],
			]);
			expect(await usd()).toEqual({ balance: dollars(10), leased: dollars(10) });
			expect(values(await bench.all("SELECT amount FROM leases WHERE source = 'usd'"))).toEqual([[dollars(10)]]);
			expect(await findings()).toEqual([]);
		});
	});

	test("the use of a key is noted once for a batch, and never goes back", async () => {
		const key = await createKey(bench.books.admin(), { accountId, type: "INFERENCE", hash: "a".repeat(64), last6: "abcdef" });
		await bench.apply([group(1, sampleTouch(key.id, 5_000), sampleTouch(key.id, 7_000), sampleTouch(key.id, 6_000))]);
		await bench.apply([
			group(2, sampleTouch(key.id, 1_000), sampleTouch("none", 3), post(1, { keyId: key.id, day: SAMPLE_DAY })),
		]);
		expect(await bench.all("SELECT last_used_at FROM keys")).toEqual([{ last_used_at: 7_000n }]);
	});
}
