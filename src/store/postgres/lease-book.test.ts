import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import type { SQL } from "bun";
import { type PostgresCluster, startPostgres } from "../../../test/support/postgres-cluster.ts";
import { SAMPLE_DAY } from "../../journal/testing/sample-records.ts";
import { NANO_PER_USD, nano } from "../../ledger/index.ts";
import { setAccount } from "../admin.ts";
import type { LeaseRequest, StoredEpoch } from "../core/store.ts";
import { StoreFolder } from "../testing/store-folder.ts";
import { connect } from "./connect.ts";
import { endEpoch, startEpoch } from "./epochs.ts";
import { LeaseRepository } from "./lease-repository.ts";

let cluster: PostgresCluster;
let books: StoreFolder;
let sql: SQL;

beforeAll(async () => {
	cluster = await startPostgres();
});

afterAll(() => cluster.stop());

beforeEach(async () => {
	books = new StoreFolder(await cluster.newDatabase());
	await books.account();
	sql = connect(books.place, { max: 8, name: "test" });
});

afterEach(async () => {
	await sql.close();
	await books.remove();
});

const boot = (id: string): Promise<StoredEpoch> => startEpoch(sql, { id, epoch: 0, appliedSeq: 0 }, 60_000);
const acquire = (accountId: string, needNano: number): LeaseRequest => ({
	name: "acquire",
	arguments: { accountId, day: SAMPLE_DAY, needNano: nano(needNano) },
});
const giveBack = (accountId: string): LeaseRequest => ({ name: "giveBack", arguments: { accountId, retained: [] } });
const leased = async () =>
	[
		...(await sql.unsafe("SELECT node_id, account_id, sum(amount)::float8 AS amount FROM leases GROUP BY 1, 2 ORDER BY 1, 2")),
	].map((row) => [row.node_id, row.account_id, row.amount]);

test("of requests that ask together each gets its own need, all or none, and the answers are in their order", async () => {
	const [rich, poor, none, back] = [await books.account("100"), await books.account("1"), "acc_none", await books.account("1")];
	const book = new LeaseRepository(await boot("node_a"));
	await book.execute(sql, [acquire(back, NANO_PER_USD)], 1);
	const answers = await book.execute(
		sql,
		[acquire(poor, 2 * NANO_PER_USD), giveBack(back), acquire(none, 1), acquire(rich, 60 * NANO_PER_USD)],
		1,
	);
	const usd = (balance: number, free: number) => [
		{ source: "usd", day: 0, balance: balance * NANO_PER_USD, free: free * NANO_PER_USD },
	];
	expect(answers).toEqual([
		{ grants: [], budgets: usd(1, 1) },
		{ grants: [], budgets: usd(1, 1) },
		{ grants: [], budgets: [] },
		{ grants: [{ source: "usd", day: 0, granted: nano(60 * NANO_PER_USD) }], budgets: usd(100, 40) },
	] as never);
	expect(await leased()).toEqual([["node_a", rich, 60 * NANO_PER_USD]]);
	expect((await books.audit()).findings).toEqual([]);
});

test("only accounts whose money other nodes have are recalled", async () => {
	const [elsewhere, empty] = [await books.account("1"), await books.account("1")];
	await new LeaseRepository(await boot("node_a")).execute(sql, [acquire(elsewhere, NANO_PER_USD)], 1);
	const book = new LeaseRepository(await boot("node_b"));
	await book.execute(sql, [acquire(empty, NANO_PER_USD)], 2);
	const answers = await book.execute(sql, [acquire(empty, 1), acquire(elsewhere, 1)], 2);
	expect(answers.map(({ grants, recalled }) => [grants.length, recalled])).toEqual([
		[0, undefined],
		[0, true],
	]);
});

test("allotments of a day are written once, whichever nodes ask for them together", async () => {
	const ids = await Promise.all([1, 2, 3, 4].map(() => books.account("1")));
	for (const id of ids)
		await setAccount(
			books.admin(() => (SAMPLE_DAY - 1) * 86_400_000),
			id,
			{ stakeDiem: "1" },
		);
	const nodes = await Promise.all(["node_a", "node_b", "node_c"].map(boot));
	const asks = ids.map((id) => acquire(id, 1_000));
	const orders = [asks, asks.toReversed(), asks];
	const answers = await Promise.all(nodes.map((node, index) => new LeaseRepository(node).execute(sql, orders[index] ?? [], 3)));
	for (const of of answers) expect(of.map(({ grants }) => grants[0]?.source)).toEqual(["diem", "diem", "diem", "diem"]);
	expect((await sql.unsafe("SELECT count(*)::int4 AS count FROM allotments"))[0].count).toBe(4);
	expect((await books.audit()).findings).toEqual([]);
});

test("nodes that ask for the same accounts in other orders, again and again, do not wait for each other for ever", async () => {
	const ids = await Promise.all([1, 2, 3, 4, 5, 6].map(() => books.account("1")));
	const nodes = await Promise.all(["node_a", "node_b", "node_c", "node_d"].map(boot));
	await Promise.all(
		nodes.map(async (node, index) => {
			const book = new LeaseRepository(node);
			for (let round = 0; round < 20; round++) {
				const order = ids.toSorted(() => ((index + round) % 2 === 0 ? 1 : -1));
				await book.execute(
					sql,
					order.map((id, at) => ((at + round + index) % 3 === 0 ? giveBack(id) : acquire(id, 10_000_000))),
					4,
				);
			}
		}),
	);
	expect((await books.audit()).findings).toEqual([]);
	for (const node of nodes) await endEpoch(sql, node);
	expect(await leased()).toEqual([]);
});

test("a node whose term was ended gets nothing, for none of the accounts", async () => {
	const ids = [await books.account("1"), await books.account("1")];
	const node = await boot("node_a");
	await endEpoch(sql, node);
	const asked = new LeaseRepository(node).execute(
		sql,
		ids.map((id) => acquire(id, 1)),
		1,
	);
	expect(await asked.catch((error: Error) => error.name)).toBe("FencedError");
	expect(await leased()).toEqual([]);
});
