/**
 * Random histories against a real store and journal, on SQLite and on PostgreSQL. Requests of several keys run at once while credit
 * comes, keys are revoked and days pass; at the end the audit proves the books from the store's rows alone.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { ApiError } from "../../errors/index.ts";
import type { Journal, JournalRecord, PostRecord } from "../../journal/records.ts";
import { audit } from "../../ledger/index.ts";
import { formatNano, nano, pico } from "../../ledger/nano.ts";
import { credit } from "../../store/admin/credit.ts";
import { createKey, revokeKey } from "../../store/admin/keys.ts";
import { type AdminStore, openAdmin } from "../../store/admin/open-admin.ts";
import { createAccount, setAccount, showAccount } from "../../store/admin.ts";
import { type OpenedStore, openStore } from "../../store/index.ts";
import { ManualClock } from "../../telemetry/clock.ts";
import { createBudgets, type NodeBudgets } from "../budgets.ts";
import type { Hold } from "../port.ts";

const DAY_MS = 86_400_000;
/** Two days ahead: stakes count from the day after they were set. */
const START = (Math.floor(Date.now() / DAY_MS) + 2) * DAY_MS + 1_000;

/** Waits until a condition holds; fails after 5 s. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
	const end = performance.now() + 5_000;
	while (!(await holds())) {
		if (performance.now() > end) throw new Error("it did not come to pass within 5 s");
		await Bun.sleep(2);
	}
}

/** Defines the tests. `createDatabase` returns a PostgreSQL database, or undefined for SQLite in the folder. */
export function testBudgets(createDatabase: () => Promise<string | undefined>): void {
	let dir: string;
	let admin: AdminStore;
	let opened: OpenedStore;
	let budgets: NodeBudgets;
	const clock = new ManualClock(START);
	const posts: PostRecord[] = [];
	let serial = 0;

	beforeAll(async () => {
		dir = mkdtempSync(join(tmpdir(), "budgets-"));
		const postgres = await createDatabase();
		admin = openAdmin(postgres ?? dir);
		opened = await openStore({
			dataDir: dir,
			postgres,
			changesEveryMs: 5,
			journal: { minFreeDiskBytes: 0, segmentBytes: 1 << 20 },
		});
		budgets = createBudgets({ store: opened.store, journal: remembering(opened.journal), clock, failedRequests: () => 20 });
	}, 60_000);

	afterAll(async () => {
		budgets.close();
		await opened.store.close();
		await admin.close();
		rmSync(dir, { recursive: true, force: true });
	});

	/** Wraps the real journal, and keeps its posts for comparison. */
	function remembering(journal: Journal): Journal {
		const append = (record: JournalRecord): Promise<void> => {
			const durable = journal.append(record);
			if (record.t === "post") posts.push(record);
			return durable;
		};
		return new Proxy(journal, {
			get: (target, name) => {
				if (name === "append") return append;
				const value: unknown = Reflect.get(target, name);
				return typeof value === "function" ? value.bind(target) : value;
			},
		});
	}

	function hash(): string {
		return `${++serial}`.padStart(64, "0");
	}

	async function createCaller(
		usd: number,
		limits: { usd?: string; diem?: string } = {},
		stakeDiem?: string,
		bundledUsd?: string,
	) {
		const account = await createAccount(admin, { name: "a", startingCreditUsd: formatNano(usd) });
		if (stakeDiem !== undefined) await setAccount(admin, account.id, { stakeDiem });
		if (bundledUsd !== undefined) await setAccount(admin, account.id, { bundledUsd });
		const keys = [];
		for (let i = 0; i < 2; i++) {
			const keyHash = hash();
			const { id } = await createKey(admin, { accountId: account.id, type: "INFERENCE", hash: keyHash, last6: "abcdef", limits });
			keys.push({ id, hash: keyHash });
		}
		return { accountId: account.id, keys };
	}

	async function holdOf(keyHash: string, amount: number): Promise<Hold | null> {
		const caller = await budgets.caller(keyHash);
		if (caller === null) return null;
		try {
			const context = { requestId: `${++serial}`.padStart(32, "r"), route: "chat", model: "m", admittedAtMs: clock.wallMs() };
			return await budgets.hold(caller, context, nano(amount));
		} catch (error) {
			if (error instanceof ApiError && [401, 402].includes(error.status)) return null;
			throw error;
		}
	}

	/** Returns how the posts of an account were applied: USD of its own, and everything including the operator's part. */
	async function booked(accountId: string): Promise<{ usd: number; all: number; overrun: number }> {
		const rows = await admin.db
			.selectFrom("movements")
			.innerJoin("posts", "posts.id", "movements.post_id")
			.select(["movements.kind", "movements.unit", "movements.amount"])
			.where("posts.account_id", "=", accountId)
			.execute();
		const sum = (of: typeof rows) => of.reduce((total, { amount }) => total + Number(amount), 0);
		return {
			usd: sum(rows.filter((row) => row.kind === "charge" && row.unit === "usd")),
			overrun: sum(rows.filter((row) => row.kind === "overrun")),
			all: sum(rows),
		};
	}

	function post(hold: Hold, price: number): void {
		const lines = [{ sku: "output", units: price, picoPrice: pico(1_000) }];
		hold.post({ lines, usage: null, status: 200, upstream: "u" });
	}

	test("64 parallel requests with money for three get exactly three holds", async () => {
		const { keys } = await createCaller(350);
		const holds = await Promise.all(Array.from({ length: 64 }, (_, i) => holdOf(keys[i % 2]?.hash ?? "", 100)));
		expect(holds.filter((hold) => hold !== null)).toHaveLength(3);
		for (const hold of holds) if (hold !== null) post(hold, 100);
		expect(budgets.holdsOpen).toBe(0);
	});

	test("a revoked key is nobody, a credit is money, soon after the command", async () => {
		const { accountId, keys } = await createCaller(100);
		const [first, second] = keys;
		if (first === undefined || second === undefined) throw new Error("no keys");
		const hold = await holdOf(first.hash, 100);
		expect(await holdOf(second.hash, 1)).toBeNull();
		await credit(admin, { accountId, amount: "0.000000050" });
		await revokeKey(admin, first.id);
		await until(async () => (await budgets.caller(first.hash)) === null);
		const more = await holdOf(second.hash, 50);
		expect(more?.amount).toBe(nano(50));
		if (hold !== null) post(hold, 70);
		if (more !== null) post(more, 50);
		await opened.store.settled();
		expect((await showAccount(admin, accountId)).balances.usd).toBe(nano(30));
	});

	test("bundled credit that no hold needs can be taken back after the account was recalled", async () => {
		const { accountId, keys } = await createCaller(0, {}, undefined, "0.000000100");
		const hold = await holdOf(keys[0]?.hash ?? "", 30);
		await setAccount(admin, accountId, { tier: "partner" });
		await until(async () => {
			try {
				await setAccount(admin, accountId, { bundledUsd: "0.000000030" });
				return true;
			} catch {
				return false;
			}
		});
		expect(await holdOf(keys[0]?.hash ?? "", 1)).toBeNull();
		if (hold !== null) post(hold, 30);
		await opened.store.settled();
		expect((await showAccount(admin, accountId)).balances.bundled).toBe(nano(0));
	});

	test("a price above its hold takes money that the node has not leased, and only what is missing then is borne", async () => {
		const { accountId, keys } = await createCaller(1_000);
		const keyHash = keys[0]?.hash ?? "";
		const hold = await holdOf(keyHash, 100);
		const other = await holdOf(keyHash, 200);
		// The notice makes the node return what the holds do not need.
		await credit(admin, { accountId, amount: "0.0000005" });
		await until(async () => {
			const rows = await admin.db.selectFrom("budgets").select("leased").where("account_id", "=", accountId).execute();
			return Number(rows[0]?.leased) === 300;
		});
		if (hold !== null) post(hold, 1_400);
		if (other !== null) post(other, 200);
		await opened.store.settled();
		expect(await booked(accountId)).toEqual({ usd: 1_500, overrun: 100, all: 1_600 });
		expect((await showAccount(admin, accountId)).balances.usd).toBe(nano(0));
		expect(await holdOf(keyHash, 1)).toBeNull();
	});

	test("a price above its hold passes no cap of its key, also where the account has the money", async () => {
		const { accountId, keys } = await createCaller(1_000, { usd: "0.0000003" });
		const keyHash = keys[0]?.hash ?? "";
		const hold = await holdOf(keyHash, 100);
		await credit(admin, { accountId, amount: "0.0000005" });
		await until(async () => {
			const rows = await admin.db.selectFrom("budgets").select("leased").where("account_id", "=", accountId).execute();
			return Number(rows[0]?.leased) === 100;
		});
		if (hold !== null) post(hold, 450);
		// The key is read again before its next request: what was paid counts against its cap, but nothing that the
		// operator bore.
		expect(await holdOf(keyHash, 1)).toBeNull();
		await opened.store.settled();
		expect(await booked(accountId)).toEqual({ usd: 300, overrun: 150, all: 450 });
		expect((await showAccount(admin, accountId)).balances.usd).toBe(nano(1_200));
	});

	const request = fc.record({
		key: fc.nat(3),
		amount: fc.integer({ min: 0, max: 300 }),
		percent: fc.integer({ min: 0, max: 140 }),
		end: fc.constantFrom("post" as const, "void" as const),
		turns: fc.nat(4),
		before: fc.constantFrom("nothing" as const, "nothing" as const, "credit" as const, "day" as const, "revoke" as const),
	});

	test("the books balance after any mixture of requests, credit, revocations and days", async () => {
		await fc.assert(
			fc.asyncProperty(fc.array(request, { minLength: 5, maxLength: 40, size: "max" }), async (requests) => {
				const plain = await createCaller(1_000);
				const capped = await createCaller(500, { usd: "0.0000004", diem: "0.0000003" }, "0.1", "0.000000200");
				const keys = [...plain.keys, ...capped.keys];
				const credited = new Map([
					[plain.accountId, 1_000],
					[capped.accountId, 500],
				]);
				const under: Promise<void>[] = [];
				for (const { key, amount, percent, end, turns, before } of requests) {
					const chosen = keys[key];
					if (chosen === undefined) continue;
					if (before === "day") clock.advance(DAY_MS / 2);
					if (before === "revoke" && key === 1) await revokeKey(admin, chosen.id);
					if (before === "credit") {
						const accountId = key < 2 ? plain.accountId : capped.accountId;
						await credit(admin, { accountId, amount: "0.0000001" });
						credited.set(accountId, (credited.get(accountId) ?? 0) + 100);
					}
					const run = async (): Promise<void> => {
						const hold = await holdOf(chosen.hash, amount);
						for (let i = 0; i < turns; i++) await new Promise<void>((resolve) => setImmediate(resolve));
						if (end === "post" && hold !== null) post(hold, Math.floor((amount * percent) / 100));
						else hold?.void();
					};
					under.push(run());
					if (turns === 0) await under.at(-1);
				}
				await Promise.all(under);
				expect(budgets.holdsOpen).toBe(0);
				await opened.store.settled();
				for (const [accountId, amount] of credited) {
					const { usd, all } = await booked(accountId);
					expect((await showAccount(admin, accountId)).balances.usd).toBe(nano(amount - usd));
					const prices = posts.filter((one) => one.accountId === accountId).reduce((sum, one) => sum + one.priceNano, 0);
					expect(all).toBe(prices);
				}
			}),
			{ numRuns: Number(process.env.FC_RUNS ?? 15), ...(process.env.FC_SEED ? { seed: Number(process.env.FC_SEED) } : {}) },
		);
		const report = await audit(admin.db);
		expect(report.findings).toEqual([]);
		expect(report.counted.posts).toBe(posts.length);
	}, 60_000);

	test("balances in memory are those of the store", async () => {
		const { accountId, keys } = await createCaller(1_000, {}, "0.2", "0.0000005");
		const keyHash = keys[0]?.hash ?? "";
		for (const price of [120, 0, 77]) {
			const hold = await holdOf(keyHash, 200);
			if (hold === null) throw new Error("refused");
			post(hold, price);
			const caller = await budgets.caller(keyHash);
			const inMemory = caller?.balances();
			await opened.store.settled();
			const { balances } = await showAccount(admin, accountId);
			expect(inMemory?.usd).toBe(nano(balances.usd + balances.bundled));
		}
	});
}
