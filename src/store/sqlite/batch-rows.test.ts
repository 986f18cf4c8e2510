import type { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { JournalRecord } from "../../journal/records.ts";
import {
	requestId,
	SAMPLE_DAY,
	SAMPLE_PRICE,
	sampleLine,
	samplePost,
	sampleTouch,
} from "../../journal/testing/sample-records.ts";
import { NANO_PER_USD, nano, pico } from "../../ledger/index.ts";
import { BatchApplier } from "../core/batch-applier.ts";
import { group } from "../testing/posting-contract.ts";
import { StoreFolder } from "../testing/store-folder.ts";
import { BatchRows } from "./batch-rows.ts";
import { latestEpoch, nodeIdOf } from "./epochs.ts";
import { LeaseRepository } from "./lease-repository.ts";
import { openDatabase } from "./open-database.ts";
import { StoreClock } from "./store-clock.ts";

let books: StoreFolder;
let db: Database;
let accountId: string;
let applier: BatchApplier<Database>;
let nowMs: number;

beforeEach(async () => {
	books = new StoreFolder();
	accountId = await books.account();
	db = openDatabase(books.dir);
	nowMs = Date.now();
	const clock = new StoreClock(db, () => nowMs);
	const boot = latestEpoch(db, clock, nodeIdOf(db));
	new LeaseRepository(db, boot, clock).execute([
		{ name: "acquire", arguments: { accountId, day: SAMPLE_DAY, needNano: nano(1) } },
	]);
	applier = new BatchApplier(new BatchRows(db, boot, clock));
});

afterEach(async () => {
	db.close();
	await books.remove();
});

const all = (query: string) => db.query<Record<string, unknown>, []>(query).all();
const ids = () => all("SELECT request_id FROM posts ORDER BY id").map((row) => row.request_id);
const balance = () => Number(all("SELECT balance FROM budgets WHERE source = 'usd'")[0]?.balance);
const post = (number: number, changes: Parameters<typeof samplePost>[2] = {}) =>
	samplePost(requestId(number), accountId, changes);

describe("a batch", () => {
	test("isolates the records at fault, books the others, and makes the audit fail", async () => {
		const faulty: [string, JournalRecord | string][] = [
			["UNIQUE constraint failed: posts.request_id", post(3)],
			["FOREIGN KEY constraint failed", { ...post(100, { lines: [] }), accountId: "acc_none" }],
			["account acc_none has no usd budget", { ...post(101), accountId: "acc_none" }],
			["has no bundled budget", post(102, { lines: [sampleLine("a", 1, pico(1_000), "bundled")] })],
			["has no diem budget", post(103, { lines: [sampleLine("a", 1, pico(1_000), "diem")] })],
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
		await applier.apply(db, [
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

	test("of which the store takes nothing leaves nothing, and can be booked later", async () => {
		db.run("PRAGMA max_page_count = 1");
		const pages = Number(all("PRAGMA page_count")[0]?.page_count);
		db.run(`PRAGMA max_page_count = ${pages}`);
		const many = Array.from({ length: 2_000 }, (_, number) => post(number, { model: "m".repeat(200) }));
		await expect(applier.apply(db, [group(1, ...many)])).rejects.toThrow("full");
		expect(all("SELECT applied_seq FROM nodes")).toEqual([{ applied_seq: 0n }]);
		expect([ids(), all("SELECT * FROM rejected")]).toEqual([[], []]);
		db.run("PRAGMA max_page_count = 1000000");
		await applier.apply(db, [group(1, ...many)]);
		expect(ids().length).toBe(2_000);
	});
});

test("booking instants do not go back with the clock", async () => {
	await applier.apply(db, [group(1, post(1))]);
	const first = nowMs;
	nowMs -= 3_600_000;
	await applier.apply(db, [group(2, post(2), sampleTouch("none", 1))]);
	const later = new StoreClock(db, () => nowMs);
	expect(later.postingMs()).toBe(first);
	nowMs = first + 1;
	await applier.apply(db, [group(3, post(3))]);
	expect(all("SELECT booked_at FROM posts ORDER BY id").map((row) => Number(row.booked_at))).toEqual([first, first, first + 1]);
	expect(all("SELECT booked_at FROM movements WHERE post_id IS NULL OR post_id > 0 ORDER BY id").length).toBe(7);
});

test("rows of the books cannot be changed or deleted", async () => {
	await applier.apply(db, [group(1, post(1))]);
	for (const table of ["movements", "posts", "credits"]) {
		expect(() => db.run(`DELETE FROM ${table}`)).toThrow("never deleted");
	}
	expect(() => db.run("UPDATE movements SET amount = 1")).toThrow("never changed");
	expect(() => db.run("UPDATE posts SET price = 1")).toThrow("never changed");
	expect(() => db.run("UPDATE budgets SET balance = -1")).toThrow("CHECK");
	expect(() => db.run("UPDATE budgets SET leased = balance + 1")).toThrow("CHECK");
});
