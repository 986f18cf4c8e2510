import type { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { requestId, SAMPLE_DAY, SAMPLE_PRICE, sampleLine, samplePost } from "../journal/testing/sample-records.ts";
import { createKey, credit, debit, refund, setAccount } from "../store/admin.ts";
import { openStore } from "../store/index.ts";
import { openDatabase } from "../store/sqlite/open-database.ts";
import { StoreFolder } from "../store/testing/store-folder.ts";
import { findRequest, NANO_PER_USD, nano, pico } from "./index.ts";

let books: StoreFolder;
let db: Database;
let accountId: string;

beforeEach(async () => {
	books = new StoreFolder();
	accountId = await books.account();
	await setAccount(
		books.admin(() => (SAMPLE_DAY - 1) * 86_400_000),
		accountId,
		{ stakeDiem: "3", bundledUsd: "4" },
	);
	await credit(books.admin(), { accountId, amount: "1.5", reference: "r1" });
	const key = await createKey(books.admin(), { accountId, type: "ADMIN", hash: "b".repeat(64), last6: "abcdef" });
	const { store, journal } = await openStore({ dataDir: books.dir, journal: { minFreeDiskBytes: 0, segmentBytes: 256 * 1024 } });
	await store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(1) });
	const sources = ["diem", "bundled", "usd"] as const;
	for (const [number, source] of sources.entries()) {
		const lines = [sampleLine("a", 10 + number, pico(1_000_000), source), { ...sampleLine("b", 5, pico(0)), overrun: nano(0) }];
		void journal.append(samplePost(requestId(number), accountId, { lines, keyId: key.id }));
	}
	const overrun = { sku: "c", units: 3, picoPrice: pico(1_000), from: [], overrun: nano(3) };
	void journal.append(samplePost(requestId(3), accountId, { lines: [overrun] }));
	void journal.append(samplePost(requestId(4), accountId, { lines: [] }));
	await store.close();
	await debit(books.admin(), { accountId, amount: "0.5", reference: "d1" });
	await refund(books.admin(), { requestId: requestId(0), amount: "0.000006", reference: "f1" });
	db = openDatabase(books.dir);
	for (const table of ["movements", "posts", "credits", "debits", "refunds", "allotments"]) {
		db.run(`DROP TRIGGER ${table}_stay; DROP TRIGGER ${table}_remain;`);
	}
	db.run("DROP TRIGGER movements_carried; DROP TRIGGER posts_carried; DROP TRIGGER carry_forwards_begin;");
	db.run("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON;");
});

afterEach(async () => {
	db.close();
	await books.remove();
});

test("books that were kept by the program have no findings", async () => {
	expect(await books.audit()).toEqual({
		ok: true,
		findings: [],
		truncated: false,
		counted: { accounts: 1, posts: 5, movements: 10, appliedSeq: { [node()]: 1 } },
	});
});

function node(): string {
	return String(db.query<{ node_id: string }, []>("SELECT node_id FROM nodes LIMIT 1").get()?.node_id);
}

describe("the audit finds", () => {
	const cases: [string, string, string[]][] = [
		["a balance that was raised", "UPDATE budgets SET balance = balance + 1 WHERE source = 'usd'", ["balances"]],
		["a balance without a row", "DELETE FROM budgets WHERE source = 'bundled'", ["balances"]],
		["money of another day's diem", "UPDATE budgets SET day = day + 1 WHERE source = 'diem'", ["balances"]],
		["a lease that nobody holds", "UPDATE budgets SET leased = 5 WHERE source = 'usd'", ["leases"]],
		[
			"a movement that is gone",
			"DELETE FROM movements WHERE unit = 'usd' AND kind = 'charge'",
			["balances", "daily", "numbers", "prices"],
		],
		["a movement of another amount", "UPDATE movements SET amount = amount + 1 WHERE kind = 'overrun'", ["daily", "prices"]],
		[
			"a charge to another account",
			"UPDATE movements SET debit = 'acc_b' WHERE kind = 'charge' AND unit = 'usd'",
			["balances", "charges"],
		],
		["a charge without its post", `DELETE FROM posts WHERE request_id = '${requestId(2)}'`, ["booked", "charges", "daily"]],
		["a number that is left out", "UPDATE posts SET entries_usd = 2 WHERE entries_usd = 1", ["numbers"]],
		["a number that is missing", "UPDATE posts SET entries = 2 WHERE entries = 1", ["numbers"]],
		[
			"a sum in place of charges that are still there",
			"INSERT INTO carry_forwards SELECT debit, debit, credit, unit, day, amount, units, 1 FROM movements WHERE kind = 'charge' AND unit = 'usd'",
			["balances", "carried"],
		],
		["a count of archived posts", "INSERT INTO archived_posts SELECT node_id, epoch, 1 FROM nodes WHERE posts > 0", ["booked"]],
		[
			"days that were made one with another sum",
			"INSERT INTO usage_folds VALUES (1, 30000, '', '', 1); UPDATE usage_daily SET day = 0, amount = amount + 1 WHERE unit = 'usd'",
			["carried"],
		],
		["a free request that is gone", `DELETE FROM posts WHERE request_id = '${requestId(4)}'`, ["booked"]],
		["a post of another price", `UPDATE posts SET price = price + 1 WHERE request_id = '${requestId(4)}'`, ["prices"]],
		["a day's amount that was changed", "UPDATE usage_daily SET amount = amount + 1 WHERE unit = 'diem'", ["daily"]],
		["a day's units that were changed", "UPDATE usage_daily SET units = units + 1 WHERE unit = 'overrun'", ["daily"]],
		["a day's row that is gone", "DELETE FROM usage_daily WHERE unit = 'bundled'", ["daily"]],
		[
			"a hole between two boots",
			"UPDATE nodes SET first_seq = first_seq + 1, applied_seq = applied_seq + 1 WHERE epoch = 2",
			["applied"],
		],
		["a sequence without its groups", "UPDATE nodes SET applied_seq = applied_seq + 1 WHERE epoch = 2", ["booked"]],
		["a credit of another amount", "UPDATE credits SET amount = amount + 1 WHERE reference = 'r1'", ["credits"]],
		["a credit that is gone", "DELETE FROM credits WHERE reference = 'r1'", ["credits"]],
		["a debit of another amount", "UPDATE debits SET amount = amount + 1", ["debits"]],
		["a debit that is gone", "DELETE FROM debits", ["debits"]],
		["a debit of another account", "UPDATE debits SET account_id = 'acc_b'", ["debits"]],
		["a refund of another amount", "UPDATE refunds SET amount = amount + 1", ["refunds"]],
		["a refund that is gone", "DELETE FROM refunds", ["refunds"]],
		["a refund of more than was charged", "UPDATE refunds SET amount = 10001", ["refunds", "returned"]],
		["a refund to another source", "UPDATE refunds SET unit = 'usd'", ["refunds", "returned"]],
		[
			"a refund of another account's request",
			`UPDATE posts SET account_id = 'acc_b' WHERE request_id = '${requestId(0)}'`,
			["charges", "daily", "numbers", "returned"],
		],
		["an allotment of another day", "UPDATE allotments SET day = day + 1", ["allotments"]],
		[
			"a request that is posted twice",
			`CREATE TABLE copy AS SELECT * FROM posts; DROP TABLE posts; ALTER TABLE copy RENAME TO posts;
				UPDATE posts SET request_id = '${requestId(4)}' WHERE request_id = '${requestId(3)}'`,
			["duplicates"],
		],
	];
	test.each(cases)("%s", async (_, change, checks) => {
		db.run(change);
		const { ok, findings } = await books.audit();
		expect(ok).toBe(false);
		expect([...new Set(findings.map((finding) => finding.check))].sort()).toEqual(checks as never);
	});

	test("each with its numbers, as text", async () => {
		db.run("UPDATE budgets SET balance = balance + 7 WHERE source = 'usd'");
		const { findings } = await books.audit();
		const moved = 101 * NANO_PER_USD - 12_000;
		expect(findings).toEqual([
			{
				check: "balances",
				message: "a balance differs from the sum of its movements",
				numbers: { account: accountId, unit: "usd", day: "0", balance: String(moved + 7), moved: String(moved) },
			},
		]);
	});
});

test("a request is found with its lines; an unknown one is null", async () => {
	const { db: kysely } = books.admin();
	const paid = await findRequest(kysely, requestId(1));
	expect(paid).toMatchObject({ requestId: requestId(1), accountId, day: SAMPLE_DAY, route: "chat", status: 200, price: 11_000 });
	expect(paid?.usage).toEqual(samplePost("", "").usage);
	expect(paid?.lines).toEqual([{ sku: "a", units: 11, picoPrice: 1_000_000, amount: nano(11_000), source: "bundled" }]);
	expect((await findRequest(kysely, requestId(3)))?.lines).toEqual([
		{ sku: "c", units: 3, picoPrice: 1_000, amount: nano(3), source: "overrun" },
	]);
	expect((await findRequest(kysely, requestId(4)))?.lines).toEqual([]);
	expect(await findRequest(kysely, requestId(5))).toBeNull();
	expect(SAMPLE_PRICE).toBe(nano(4_000));
});
