import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { SQL } from "bun";
import { type PostgresCluster, startPostgres } from "../../../test/support/postgres-cluster.ts";
import type { JournalRecord } from "../../journal/records.ts";
import { requestId, SAMPLE_DAY, SAMPLE_PRICE, sampleLine, samplePost } from "../../journal/testing/sample-records.ts";
import { NANO_PER_USD, nano, pico } from "../../ledger/index.ts";
import { setAccount } from "../admin.ts";
import { BatchApplier } from "../core/batch-applier.ts";
import type { StoredEpoch } from "../core/store.ts";
import { group } from "../testing/posting-contract.ts";
import { StoreFolder } from "../testing/store-folder.ts";
import { batchRows } from "./batch-rows.ts";
import { connect } from "./connect.ts";
import { endEpoch, reap, startEpoch } from "./epochs.ts";
import { LeaseRepository } from "./lease-repository.ts";

const HUNDRED = 100 * NANO_PER_USD;
let cluster: PostgresCluster;
let books: StoreFolder;
let sql: SQL;
let accountId: string;
let boot: StoredEpoch;
let applier: BatchApplier<SQL>;

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

beforeEach(async () => {
	books = new StoreFolder(await cluster.newDatabase());
	accountId = await books.account();
	sql = connect(books.place, { max: 4, name: "test" });
	boot = await startEpoch(sql, { id: "node_a", epoch: 0, appliedSeq: 0 }, 60_000);
	await lease(boot, HUNDRED);
	applier = new BatchApplier(batchRows(boot));
});

afterEach(async () => {
	await sql.close();
	await books.remove();
});

const lease = (node: StoredEpoch, amount: number) =>
	new LeaseRepository(node).execute(
		sql,
		[{ name: "acquire", arguments: { accountId, day: SAMPLE_DAY, needNano: nano(amount) } }],
		1,
	);
const keep = (node: StoredEpoch, amount: number) =>
	new LeaseRepository(node).execute(
		sql,
		[{ name: "giveBack", arguments: { accountId, retained: [{ source: "usd", day: 0, amount }] } }],
		1,
	);
const all = async (query: string): Promise<Record<string, unknown>[]> => [...(await sql.unsafe(query))];
const ids = async () => (await all("SELECT request_id FROM posts ORDER BY id")).map((row) => row.request_id);
const usd = async () => (await all("SELECT balance::float8, leased::float8 FROM budgets WHERE source = 'usd'"))[0];
const post = (number: number, changes: Parameters<typeof samplePost>[2] = {}) =>
	samplePost(requestId(number), accountId, changes);
const findings = async () => (await books.audit()).findings;

async function faultOf(promise: Promise<unknown>): Promise<Error> {
	return promise.then(
		() => new Error("it did not fail"),
		(error: Error) => error,
	);
}

describe("a batch", () => {
	test("that is sent twice at once, as after a connection that broke, is booked once", async () => {
		const batch = [group(1, post(1)), group(2, post(2), post(3))];
		const applied = await Promise.all([1, 2, 3].map(() => new BatchApplier(batchRows(boot)).apply(sql, batch)));
		expect(applied).toEqual([2, 2, 2]);
		expect(await ids()).toEqual([1, 2, 3].map(requestId));
		expect(await findings()).toEqual([]);
	});

	test("isolates the records at fault, books the others, and makes the audit fail", async () => {
		const faulty: [string, JournalRecord | string][] = [
			["posts_request_id_key", post(3)],
			["account_id", { ...post(100, { lines: [] }), accountId: "acc_none" }],
			["has no usd budget", { ...post(101), accountId: "acc_none" }],
			["has no bundled budget", post(102, { lines: [sampleLine("a", 1, pico(1_000), "bundled")] })],
			["has no diem budget", post(103, { lines: [sampleLine("a", 1, pico(1_000), "diem")] })],
			["the lines sum to 4000", { ...post(105), priceNano: nano(4_001) }],
			["not an amount", post(106, { lines: [{ ...sampleLine("a", 1, pico(1_000)), overrun: -1 as never }] })],
			["not an amount", post(107, { lines: [{ ...sampleLine("a", 1, pico(1_000)), units: 1.5 }] })],
			["route", { ...post(110), route: null as never }],
			["invalid input syntax", { ...post(111), doneAtMs: 1.5 }],
			["unknown kind", { t: "nothing" } as never],
			["0x00", { ...post(112), model: "a\0b" }],
			["JSON", '{"t":"post","id":'],
			["", "null"],
		];
		const good = Array.from({ length: 30 }, (_, number) => post(number));
		const mixed = good.flatMap((record, index) => {
			const bad = faulty[Math.floor(index / 2) - 2];
			return index % 2 === 0 && bad !== undefined ? [record, bad[1]] : [record];
		});
		const rest = faulty.slice(13).map(([, record]) => record);
		await applier.apply(sql, [group(1, ...mixed.slice(0, 20)), group(2, ...mixed.slice(20), ...rest)]);
		expect(await ids()).toEqual(good.map((record) => record.id));
		expect(await usd()).toMatchObject({ balance: HUNDRED - 30 * SAMPLE_PRICE });
		const rejected = await all("SELECT error, record FROM rejected ORDER BY id");
		expect(rejected.length).toBe(faulty.length);
		for (const [index, [error, record]] of faulty.entries()) {
			expect(String(rejected[index]?.error)).toContain(error);
			expect(rejected[index]?.record).toBe(typeof record === "string" ? record : JSON.stringify(record));
		}
		expect(new Set((await findings()).map((finding) => finding.check))).toEqual(new Set(["rejected"]));
		expect((await findings()).length).toBe(faulty.length);
	});

	test("of a thousand records of many accounts is a handful of statements, and the books balance", async () => {
		const others = await Promise.all([1, 2, 3].map(() => books.account("50")));
		const records = Array.from({ length: 1_000 }, (_, number) =>
			samplePost(requestId(number), [accountId, ...others][number % 4] ?? "", number % 5 === 0 ? { lines: [] } : {}),
		);
		await applier.apply(sql, [group(1, ...records)]);
		expect((await ids()).length).toBe(1_000);
		expect(await all("SELECT max(entries) AS most, count(entries) AS charged FROM posts GROUP BY account_id")).toEqual(
			[0, 1, 2, 3].map(() => ({ most: 400n, charged: 200n })),
		);
		expect(await findings()).toEqual([]);
	});
});

describe("a post", () => {
	test("for which the lease does not suffice takes free money, and then the operator bears it", async () => {
		// Of 100 USD another node has 60 and this one 30: 10 are free.
		await keep(boot, 30 * NANO_PER_USD);
		const other = await startEpoch(sql, { id: "node_b", epoch: 0, appliedSeq: 0 }, 60_000);
		await lease(other, 60 * NANO_PER_USD);
		const line = sampleLine("a", 50_000, pico(1_000_000_000));
		await applier.apply(sql, [group(1, post(1, { lines: [line] }))]);
		expect(await usd()).toEqual({ balance: 60 * NANO_PER_USD, leased: 60 * NANO_PER_USD });
		const rows = await all(
			"SELECT kind, amount::float8, units::float8, balance_after::float8 FROM movements WHERE post_id > 0 ORDER BY id",
		);
		expect(rows).toEqual([
			{ kind: "charge", amount: 40 * NANO_PER_USD, units: 40_000, balance_after: 60 * NANO_PER_USD },
			{ kind: "overrun", amount: 10 * NANO_PER_USD, units: 10_000, balance_after: null },
		]);
		expect(await findings()).toEqual([]);
	});

	test("that owes takes what its node was just leased, then free money, never what the node keeps or others have", async () => {
		// Of 100 USD this node has 30 (it knows of 20 and keeps them), another has 60, 10 are free.
		await keep(boot, 30 * NANO_PER_USD);
		const other = await startEpoch(sql, { id: "node_b", epoch: 0, appliedSeq: 0 }, 60_000);
		await lease(other, 60 * NANO_PER_USD);
		const kept = { diem: 0, bundled: 0, usd: 20 * NANO_PER_USD };
		const owes = (number: number, owed: number) =>
			post(number, {
				lines: [{ sku: "a", units: 50_000, picoPrice: pico(1_000_000_000), from: [], owed: nano(owed), overrun: nano(0) }],
				priceNano: nano(owed),
				owing: { kept, most: { diem: 0, usd: Number.MAX_SAFE_INTEGER } },
			});
		await applier.apply(sql, [group(1, owes(1, 15 * NANO_PER_USD), owes(2, 25 * NANO_PER_USD))]);
		expect(await usd()).toEqual({ balance: 80 * NANO_PER_USD, leased: 80 * NANO_PER_USD });
		const rows = await all("SELECT kind, amount::float8 FROM movements WHERE post_id > 0 ORDER BY id");
		expect(rows).toEqual([
			{ kind: "charge", amount: 15 * NANO_PER_USD },
			{ kind: "charge", amount: 5 * NANO_PER_USD },
			{ kind: "overrun", amount: 20 * NANO_PER_USD },
		]);
		expect(await all("SELECT amount::float8 FROM leases WHERE node_id = 'node_a'")).toEqual([{ amount: 20 * NANO_PER_USD }]);
		expect(await findings()).toEqual([]);
	});

	test("of a fenced boot that owes is paid from free money", async () => {
		await sql.unsafe("UPDATE node_terms SET ends_at = now() - interval '1 minute'");
		expect(await reap(sql, 10_000)).toBe(1);
		const line = { ...sampleLine("a", 50_000, pico(1_000_000_000)), owed: nano(70 * NANO_PER_USD) };
		const owing = { kept: { diem: 0, bundled: 0, usd: 0 }, most: { diem: 0, usd: Number.MAX_SAFE_INTEGER } };
		await applier.apply(sql, [group(1, post(1, { lines: [line], priceNano: nano(120 * NANO_PER_USD), owing }))]);
		expect(await usd()).toEqual({ balance: 0, leased: 0 });
		const rows = await all(
			"SELECT kind, sum(amount)::float8 AS amount FROM movements WHERE post_id > 0 GROUP BY kind ORDER BY 1",
		);
		expect(rows).toEqual([
			{ kind: "charge", amount: HUNDRED },
			{ kind: "overrun", amount: 20 * NANO_PER_USD },
		]);
		expect(await findings()).toEqual([]);
	});

	test("of a fenced boot is booked late, once, from what is free", async () => {
		await sql.unsafe("UPDATE node_terms SET ends_at = now() - interval '1 minute'");
		expect(await reap(sql, 10_000)).toBe(1);
		expect(await reap(sql, 10_000)).toBe(0);
		expect(await usd()).toEqual({ balance: HUNDRED, leased: 0 });
		await applier.apply(sql, [group(1, post(1))]);
		await applier.apply(sql, [group(1, post(1))]);
		expect(await usd()).toEqual({ balance: HUNDRED - SAMPLE_PRICE, leased: 0 });
		expect((await faultOf(lease(boot, 1))).name).toBe("FencedError");
		expect(await findings()).toEqual([]);
	});
});

test("a post that was paid from an allotment which a crash of the store lost is booked from that allotment", async () => {
	await setAccount(
		books.admin(() => (SAMPLE_DAY - 1) * 86_400_000),
		accountId,
		{ stakeDiem: "1" },
	);
	// The lease that wrote the allotment is gone with its commit: the store knows of no diem on that day.
	await endEpoch(sql, boot);
	const next = await startEpoch(sql, { ...boot, appliedSeq: 0 }, 60_000);
	const lines = [sampleLine("sku", 5, pico(1_000_000), "diem")];
	expect(await new BatchApplier(batchRows(next)).apply(sql, [group(1, post(1, { lines }))])).toBe(1);
	const [diem] = await all("SELECT day::float8, balance::float8, leased::float8 FROM budgets WHERE source = 'diem'");
	expect(diem).toEqual({ day: SAMPLE_DAY, balance: NANO_PER_USD - 5_000, leased: 0 });
	expect(await findings()).toEqual([]);
});

test("nodes that book for the same accounts at once number each statement without holes", async () => {
	await endEpoch(sql, boot);
	const accounts = [accountId, await books.account("50"), await books.account("50")];
	const nodes = await Promise.all(
		["b", "c", "d"].map((name) => startEpoch(sql, { id: `node_${name}`, epoch: 0, appliedSeq: 0 }, 60_000)),
	);
	await Promise.all(
		nodes.map(async (node, at) => {
			const own = new BatchApplier(batchRows(node));
			for (let seq = 1; seq <= 10; seq++) {
				const order = seq % 2 === 0 ? accounts : accounts.toReversed();
				const records = order.map((account, index) => samplePost(requestId(at * 1_000 + seq * 10 + index), account));
				await own.apply(sql, [group(seq, ...records)]);
			}
		}),
	);
	for (const account of accounts) {
		const rows = await all(`SELECT entries FROM posts WHERE account_id = '${account}' ORDER BY entries`);
		expect(rows.map((row) => Number(row.entries))).toEqual(Array.from({ length: 30 }, (_, index) => 2 * (index + 1)));
	}
	expect(await findings()).toEqual([]);
});
