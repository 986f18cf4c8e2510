/** Prices above their holds on two nodes that share an account: no money is free where the operator bears something. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { type PostgresCluster, startPostgres } from "../../test/support/postgres-cluster.ts";
import { until } from "../../test/support/running-gateway.ts";
import { ApiError } from "../errors/index.ts";
import { audit } from "../ledger/index.ts";
import { formatNano, nano, pico } from "../ledger/nano.ts";
import { type AdminStore, createAccount, createKey, credit, openAdmin } from "../store/admin.ts";
import { type OpenedStore, openStore } from "../store/index.ts";
import { systemClock } from "../telemetry/clock.ts";
import { createBudgets, type NodeBudgets } from "./budgets.ts";
import type { Hold } from "./port.ts";

let cluster: PostgresCluster;
let admin: AdminStore;
let dir: string;
const nodes: { opened: OpenedStore; budgets: NodeBudgets }[] = [];
let serial = 0;

beforeAll(async () => {
	cluster = await startPostgres();
	const postgres = await cluster.newDatabase();
	admin = openAdmin(postgres);
	dir = mkdtempSync(join(tmpdir(), "two-nodes-"));
	for (const name of ["a", "b"]) {
		const journal = { minFreeDiskBytes: 0, segmentBytes: 1 << 20 };
		const opened = await openStore({ dataDir: join(dir, name), postgres, journal });
		const budgets = createBudgets({ store: opened.store, journal: opened.journal, clock: systemClock, failedRequests: () => 20 });
		nodes.push({ opened, budgets });
	}
}, 120_000);

afterAll(async () => {
	for (const { opened, budgets } of nodes) {
		budgets.close();
		await opened.store.close();
	}
	await admin.close();
	await cluster.stop();
	rmSync(dir, { recursive: true, force: true });
});

const step = fc.record({
	node: fc.nat(1),
	amount: fc.integer({ min: 1, max: 300 }),
	percent: fc.integer({ min: 0, max: 300 }),
	/** Posts the oldest hold of these that are open, then; or holds on. */
	post: fc.boolean(),
	credit: fc.constantFrom(0, 0, 0, 100),
});

test("the operator bears only what is not free when the price is booked", async () => {
	await fc.assert(
		fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12, size: "max" }), async (steps) => {
			let credited = 1_000;
			const account = await createAccount(admin, { name: "a", startingCreditUsd: formatNano(credited) });
			const hash = `${++serial}`.padStart(64, "0");
			await createKey(admin, { accountId: account.id, type: "INFERENCE", hash, last6: "abcdef" });
			const open: { hold: Hold; node: number; price: number }[] = [];
			let prices = 0;
			const post = async (): Promise<void> => {
				const next = open.shift();
				if (next === undefined) return;
				const lines = [{ sku: "output", units: next.price, picoPrice: pico(1_000) }];
				prices += next.price;
				const borne = await overrunOf(account.id);
				next.hold.post({ lines, usage: null, status: 200, upstream: "u" });
				await nodes[next.node]?.opened.store.settled();
				if ((await overrunOf(account.id)) === borne) return;
				const row = await admin.db.selectFrom("budgets").selectAll().where("account_id", "=", account.id).executeTakeFirst();
				expect([account.id, row?.balance]).toEqual([account.id, row?.leased]);
			};
			for (const { node, amount, percent, post: posts, credit: more } of steps) {
				if (more > 0) {
					await credit(admin, { accountId: account.id, amount: formatNano(more) });
					credited += more;
				}
				const hold = await holdOn(node, hash, amount);
				if (hold !== null) open.push({ hold, node, price: Math.floor((amount * percent) / 100) });
				if (posts) await post();
			}
			while (open.length > 0) await post();
			const { balance } = await admin.db
				.selectFrom("budgets")
				.select("balance")
				.where("account_id", "=", account.id)
				.executeTakeFirstOrThrow();
			const borne = await overrunOf(account.id);
			expect(Number(balance) + prices - borne).toBe(credited);
		}),
		{ numRuns: Number(process.env.FC_RUNS ?? 8), ...(process.env.FC_SEED ? { seed: Number(process.env.FC_SEED) } : {}) },
	);
	expect((await audit(admin.db)).findings).toEqual([]);
}, 120_000);

test("a key's limit counts what the key spent on the other node", async () => {
	const account = await createAccount(admin, { name: "a", startingCreditUsd: formatNano(100_000) });
	const hash = `${++serial}`.padStart(64, "0");
	const limits = { usd: formatNano(1_000), diem: null, vcu: null };
	await createKey(admin, { accountId: account.id, type: "INFERENCE", hash, last6: "abcdef", limits, limitPeriod: "LIFETIME" });
	for (const [node, amount] of [[1, 100] as const, [0, 850] as const]) {
		const hold = await holdOn(node, hash, amount);
		hold?.post({ lines: [{ sku: "output", units: amount, picoPrice: pico(1_000) }], usage: null, status: 200, upstream: "u" });
		await nodes[node]?.opened.store.settled();
	}
	const refused = async () => {
		const hold = await holdOn(1, hash, 51);
		hold?.void();
		return hold === null;
	};
	await until(refused, "the refusal of the node that spent little");
	expect((await holdOn(1, hash, 50))?.amount).toBe(nano(50));
}, 60_000);

async function holdOn(node: number, hash: string, amount: number): Promise<Hold | null> {
	const budgets = nodes[node]?.budgets;
	const caller = await budgets?.caller(hash);
	if (budgets === undefined || caller === null || caller === undefined) throw new Error("no caller");
	try {
		const context = { requestId: `${++serial}`.padStart(32, "r"), route: "chat", model: "m", admittedAtMs: systemClock.now() };
		return await budgets.hold(caller, context, nano(amount));
	} catch (error) {
		if (error instanceof ApiError && error.status === 402) return null;
		throw error;
	}
}

async function overrunOf(accountId: string): Promise<number> {
	const rows = await admin.db
		.selectFrom("movements")
		.innerJoin("posts", "posts.id", "movements.post_id")
		.select("movements.amount")
		.where("posts.account_id", "=", accountId)
		.where("movements.kind", "=", "overrun")
		.execute();
	return rows.reduce((sum, { amount }) => sum + Number(amount), 0);
}
