/** Prices above their holds on two nodes that share an account: no money is free where the operator bears something. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { until } from "../../../test/support/until.ts";
import { ApiError } from "../../errors/index.ts";
import { audit } from "../../ledger/index.ts";
import { formatNano, nano, pico } from "../../ledger/nano.ts";
import { updateAccountKey } from "../../store/admin/update-account-key.ts";
import { type AdminStore, createAccount, createKey, credit, openAdmin, setAccount } from "../../store/admin.ts";
import type { OpenedStore } from "../../store/index.ts";
import { systemClock } from "../../telemetry/clock.ts";
import { createBudgets, type NodeBudgets } from "../budgets.ts";
import type { Hold } from "../port.ts";

/** A store that two nodes share. */
export interface SharedPlace {
	/** What the operator opens. */
	readonly place: string;
	openNode(node: number): Promise<OpenedStore>;
	close(): Promise<void>;
}

/**
 * Defines the tests.
 * @param create makes the store; `dir` is an empty folder
 */
export function testTwoNodes(create: (dir: string) => Promise<SharedPlace>): void {
	let shared: SharedPlace;
	let admin: AdminStore;
	let dir: string;
	const nodes: { opened: OpenedStore; budgets: NodeBudgets }[] = [];
	let serial = 0;

	beforeAll(async () => {
		dir = mkdtempSync(join(tmpdir(), "two-nodes-"));
		shared = await create(dir);
		admin = openAdmin(shared.place);
		for (const node of [0, 1]) {
			const opened = await shared.openNode(node);
			const budgets = createBudgets({
				store: opened.store,
				journal: opened.journal,
				clock: systemClock,
				failedRequests: () => 20,
			});
			nodes.push({ opened, budgets });
		}
	});

	afterAll(async () => {
		for (const { opened, budgets } of nodes) {
			budgets.close();
			await opened.store.close();
		}
		await admin.close();
		await shared.close();
		rmSync(dir, { recursive: true, force: true });
	});

	const step = fc.record({
		node: fc.nat(1),
		amount: fc.integer({ min: 1, max: 300 }),
		percent: fc.integer({ min: 0, max: 300 }),
		/** True to post the oldest open hold at that time, false to keep it. */
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
					await returned();
					const borne = await overrunOf(account.id);
					next.hold.post({ lines, usage: null, status: 200, upstream: "u" });
					await nodes[next.node]?.opened.store.settled();
					if ((await overrunOf(account.id)) === borne) return;
					const row = await admin.db.selectFrom("budgets").selectAll().where("account_id", "=", account.id).executeTakeFirst();
					expect([account.id, row?.balance]).toEqual([account.id, row?.leased]);
				};
				for (const { node, amount, percent, post: posts, credit: more } of steps) {
					if (more > 0) {
						const noticed = nodes.map(({ opened }) => noticeOf(opened, account.id));
						await credit(admin, { accountId: account.id, amount: formatNano(more) });
						await Promise.all(noticed);
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
	});

	/** Creates a key with a limit, on an account with plenty of money. */
	async function limitedKey(limitNano: number, limitPeriod: "EPOCH" | "MONTH" | "LIFETIME", bundled = 0): Promise<LimitedKey> {
		const account = await createAccount(admin, { name: "a", startingCreditUsd: formatNano(100_000) });
		if (bundled > 0) await setAccount(admin, account.id, { bundledUsd: formatNano(bundled) });
		const hash = `${++serial}`.padStart(64, "0");
		const limits = { usd: formatNano(limitNano), diem: null, vcu: null };
		const { id } = await createKey(admin, {
			accountId: account.id,
			type: "INFERENCE",
			hash,
			last6: "abcdef",
			limits,
			limitPeriod,
		});
		return { id, hash, accountId: account.id };
	}

	interface LimitedKey {
		readonly id: string;
		readonly hash: string;
		readonly accountId: string;
	}

	const post = (hold: Hold | null, price: number) =>
		hold?.post({ lines: [{ sku: "output", units: price, picoPrice: pico(1_000) }], usage: null, status: 200, upstream: "u" });

	/** Resolves when the node has handled a change of the account. */
	function noticeOf({ store }: OpenedStore, accountId: string): Promise<void> {
		return new Promise((resolve) => {
			const stop = store.onChange((change) => {
				if (change.kind !== "account" || change.accountId !== accountId) return;
				stop();
				resolve();
			});
		});
	}

	/** Resolves when what the nodes were asked to return is free: a recall precedes the first answer, a return the second. */
	async function returned(): Promise<void> {
		await settled();
		await settled();
	}

	const settled = () => Promise.all(nodes.map(({ opened }) => opened.store.settled()));

	async function usedBy(keyId: string): Promise<number> {
		const rows = await admin.db
			.selectFrom("usage_daily")
			.select("amount")
			.where("key_id", "=", keyId)
			.where("unit", "<>", "overrun")
			.execute();
		return rows.reduce((sum, { amount }) => sum + Number(amount), 0);
	}

	test("a key's limit holds over both nodes: what one holds or spent, the other does not give", async () => {
		const { hash } = await limitedKey(1_000, "LIFETIME", 300);
		post(await holdOn(1, hash, 100), 100);
		const held = await holdOn(0, hash, 850);
		expect(held?.amount).toBe(nano(850));
		expect(await holdOn(1, hash, 51)).toBe(null);
		const rest = await holdOn(1, hash, 50);
		expect(rest?.amount).toBe(nano(50));
		held?.void();
		await heldOn(1, hash, 850);
		expect(await holdOn(0, hash, 1)).toBe(null);
	});

	test("holds and prices at random on both nodes never pass a key's limit, and what the limit allows is not borne by the operator", async () => {
		await fc.assert(
			fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 16, size: "max" }), async (steps) => {
				const limit = 900;
				const { hash, id, accountId } = await limitedKey(limit, "LIFETIME", 200);
				const open: { hold: Hold; price: number }[] = [];
				let prices = 0;
				const postNext = async (): Promise<void> => {
					const next = open.shift();
					if (next === undefined) return;
					prices += next.price;
					post(next.hold, next.price);
					await settled();
					expect(await usedBy(id)).toBeLessThanOrEqual(limit);
				};
				for (const { node, amount, percent, post: posts } of steps) {
					const hold = await holdOn(node, hash, amount);
					if (hold !== null) open.push({ hold, price: Math.floor((amount * percent) / 100) });
					if (posts) await postNext();
				}
				while (open.length > 0) await postNext();
				expect((await usedBy(id)) + (await overrunOf(accountId))).toBe(prices);
				const left = limit - (await usedBy(id));
				if (left === 0) return;
				(await heldOn(steps.length % 2, hash, left)).void();
			}),
			{ numRuns: Number(process.env.FC_RUNS ?? 8), ...(process.env.FC_SEED ? { seed: Number(process.env.FC_SEED) } : {}) },
		);
		expect((await audit(admin.db)).findings).toEqual([]);
	});

	const DAY_MS = 86_400_000;

	test.each([
		["EPOCH", "2028-02-28T12:00:00Z", "2028-02-29T12:00:00Z"],
		["MONTH", "2028-02-29T12:00:00Z", "2028-03-01T12:00:00Z"],
		["MONTH", "2027-12-31T12:00:00Z", "2028-01-01T12:00:00Z"],
	] as const)("a window of %s that has %s in it has an end before %s, on both nodes", async (period, before, after) => {
		const { hash } = await limitedKey(100, period);
		const [late, early] = [Date.parse(before), Date.parse(after)];
		const first = await holdOn(0, hash, 60, late);
		expect([await holdOn(1, hash, 41, late), first?.amount]).toEqual([null, nano(60)]);
		const next = await holdOn(1, hash, 90, early);
		expect(next?.amount).toBe(nano(90));
		// A request that was admitted before midnight belongs to its own window, whenever it ends.
		post(first, 60);
		await settled();
		expect([await holdOn(0, hash, 11, early), (await holdOn(0, hash, 10, early))?.amount]).toEqual([null, nano(10)]);
		expect((await holdOn(1, hash, 40, late))?.amount).toBe(nano(40));
	});

	test("a window of a month goes on over its days: what is leased for one of them counts on all", async () => {
		const { hash } = await limitedKey(100, "MONTH");
		const day = Date.parse("2028-02-10T12:00:00Z");
		const open = await holdOn(0, hash, 30, day);
		post(await holdOn(0, hash, 20, day), 20);
		await settled();
		const tomorrow = await holdOn(1, hash, 40, day + DAY_MS);
		expect(tomorrow?.amount).toBe(nano(40));
		expect(await holdOn(0, hash, 11, day + 2 * DAY_MS)).toBe(null);
		open?.void();
		await heldOn(0, hash, 40, day + 2 * DAY_MS);
	});

	test("a key that gets another period keeps what its running requests hold: it counts in the new window", async () => {
		const key = await limitedKey(100, "EPOCH");
		const day = Date.parse("2028-02-10T12:00:00Z");
		const open = await holdOn(0, key.hash, 30, day);
		const other = await holdOn(1, key.hash, 60, day + DAY_MS);
		await updateAccountKey(admin, { accountId: key.accountId, keyId: key.id, changes: { limitPeriod: "MONTH" } });
		const refused = async () => (await holdOn(1, key.hash, 11, day + DAY_MS)) === null;
		await until(refused, "the new period on the other node");
		expect((await holdOn(1, key.hash, 10, day + DAY_MS))?.amount).toBe(nano(10));
		open?.void();
		other?.void();
	});

	test("a limit below what a chat needs at least refuses it on both nodes, and gives back what it was granted", async () => {
		const { hash } = await limitedKey(100, "LIFETIME");
		const refusals = await Promise.all(
			[0, 1, 0, 1].map(async (node) => {
				const budgets = nodes[node]?.budgets;
				const caller = await budgets?.caller(hash);
				if (budgets === undefined || caller === null || caller === undefined) throw new Error("no caller");
				const context = {
					requestId: `${++serial}`.padStart(32, "r"),
					route: "chat",
					model: "m",
					admittedAtMs: systemClock.wallMs(),
				};
				// Less than the least output costs, and more than nothing: such a claim takes what there is.
				const ceiling = budgets.holdCeiling(caller, context, {
					promptTokensBound: 1,
					countPromptTokens: () => Promise.resolve(1),
					promptTokensAtLeast: 1,
					callerMaxTokens: null,
					modelMaxTokens: 4_096,
					contextTokens: 8_192,
					choices: 1,
					inputPrice: pico(1_000),
					outputPrice: pico(1_000),
				});
				return Promise.resolve(ceiling).then(
					() => "held",
					(error) => (error instanceof ApiError ? error.status : error),
				);
			}),
		);
		expect(refusals).toEqual([402, 402, 402, 402]);
		(await heldOn(0, hash, 100)).void();
		(await heldOn(1, hash, 100)).void();
	});

	test("other keys of the account are served while one waits for what another node shall give back of its limit", async () => {
		const limited = await limitedKey(100, "LIFETIME");
		const hash = `${++serial}`.padStart(64, "0");
		await createKey(admin, { accountId: limited.accountId, type: "INFERENCE", hash, last6: "abcdef" });
		const held = await holdOn(0, limited.hash, 100);
		await holdOn(1, hash, 1);
		const order: string[] = [];
		const refused = holdOn(1, limited.hash, 50).then((hold) => order.push(hold === null ? "refused" : "held"));
		// This is more than the other key has free here, so it needs the store too.
		const served = holdOn(1, hash, 60_000).then((hold) => order.push(hold === null ? "none" : "served"));
		await Promise.all([refused, served]);
		expect(order).toEqual(["served", "refused"]);
		held?.void();
	});

	async function holdOn(node: number, hash: string, amount: number, atMs = systemClock.wallMs()): Promise<Hold | null> {
		const budgets = nodes[node]?.budgets;
		const caller = await budgets?.caller(hash);
		if (budgets === undefined || caller === null || caller === undefined) throw new Error("no caller");
		try {
			const context = { requestId: `${++serial}`.padStart(32, "r"), route: "chat", model: "m", admittedAtMs: atMs };
			return await budgets.hold(caller, context, nano(amount));
		} catch (error) {
			if (error instanceof ApiError && error.status === 402) return null;
			throw error;
		}
	}

	/** Takes a hold that is available, if not at once: for 100 ms after a refusal the store is not called again. */
	async function heldOn(node: number, hash: string, amount: number, atMs?: number): Promise<Hold> {
		let hold: Hold | null = null;
		await until(async () => {
			hold = await holdOn(node, hash, amount, atMs);
			return hold !== null;
		}, `a hold of ${amount} on node ${node}`);
		return hold as unknown as Hold;
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
}
