/** The guarantees of a statement's pages on every store. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ReadGroup } from "../../journal/index.ts";
import type { MoneySource, PostLine } from "../../journal/records.ts";
import { requestId, SAMPLE_DAY, samplePost } from "../../journal/testing/sample-records.ts";
import { NANO_PER_USD, nano, pico, ZERO } from "../../ledger/nano.ts";
import { sharedSecret } from "../admin/store-secret.ts";
import { type AdminError, type AdminStore, createAccount, createKey, setAccount } from "../admin.ts";
import { DAY_MS } from "../core/day.ts";
import { accountBalance } from "../queries/account-balance.ts";
import type { StatementEntry } from "../queries/statement.ts";
import { type ExportedLine, exportUsage } from "../queries/usage-export.ts";
import { type UsageHistory, usageHistory } from "../queries/usage-history.ts";
import { usagePage } from "../queries/usage-page.ts";
import { usageSums } from "../queries/usage-sums.ts";
import type { StoreFolder } from "./store-folder.ts";

/** A store with a node that applies posts of some accounts. */
export interface PostingStore {
	readonly books: StoreFolder;
	/** Leases all money of the accounts to the node, as of `SAMPLE_DAY`. */
	lease(accountIds: readonly string[]): Promise<void>;
	book(groups: readonly ReadGroup[]): Promise<void>;
	/** Applies from now on as after a restart. */
	restart(): Promise<void>;
	close(): Promise<void>;
}

/** Returns a seeded generator (mulberry32): the same books at each run. */
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
const CURRENCIES: readonly (MoneySource | null)[] = [null, "usd", "bundled", "diem"];
/** The units that pay for a line: one to three, or none. */
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

/** Defines the tests; they share the books of one store. */
export function testStatement(open: () => Promise<PostingStore>): void {
	const random = seeded(20_260_131);
	const pick = <T>(values: readonly T[]): T => values[random(values.length)] as T;
	let store: PostingStore;
	let admin: AdminStore;
	let accountId: string;
	let otherId: string;
	let seq = 0;

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

	function randomPost(number: number, account: string) {
		const lines = Array.from({ length: 1 + random(3) }, (_, index) => line(index, pick(SPLITS)));
		return samplePost(requestId(number), account, { lines });
	}

	async function book(...records: readonly object[]): Promise<void> {
		seq++;
		const texts = records.map((record) => JSON.stringify(record));
		await store.book([{ seq, records: texts, bytes: 0, end: { segment: 1, offset: 0 } }]);
	}

	beforeAll(async () => {
		store = await open();
		admin = store.books.admin(() => (SAMPLE_DAY - 1) * DAY_MS);
		accountId = (await createAccount(admin, { name: "one", startingCreditUsd: "50" })).id;
		otherId = (await createAccount(admin, { name: "other", startingCreditUsd: "50" })).id;
		for (const id of [accountId, otherId]) await setAccount(admin, id, { stakeDiem: "50", bundledUsd: "50" });
		await store.lease([accountId, otherId]);
		for (let number = 0; number < POSTS; number += 8) {
			const batch: object[] = Array.from({ length: 8 }, (_, index) =>
				randomPost(number + index, random(5) === 0 ? otherId : accountId),
			);
			// A record at fault undoes its batch for a moment; the numbers must not change by it.
			if (random(4) === 0) batch.splice(random(8), 0, { ...randomPost(9_000 + number, accountId), priceNano: 1 });
			await book(...batch);
		}
	});

	afterAll(() => store.close());

	/** Computes the same from the movements alone. */
	async function expected(account: string, currency: MoneySource | null) {
		const rows = await admin.db
			.selectFrom("movements")
			.innerJoin("posts", "posts.id", "movements.post_id")
			.select(["movements.booked_at", "movements.sku", "movements.amount", "movements.unit", "posts.request_id"])
			.where("movements.kind", "=", "charge")
			.where("movements.debit", "=", account)
			.orderBy("movements.id")
			.execute();
		return rows
			.filter((row) => currency === null || row.unit === currency)
			.map((row) => [Number(row.booked_at), row.request_id, row.sku ?? "", row.unit, Number(row.amount)] as const);
	}

	const told = (entries: readonly StatementEntry[]) =>
		entries.map((entry) => [entry.bookedAtMs, entry.requestId, entry.sku, entry.source, entry.amount] as const);

	const page = { fromMs: null, toMs: null, order: "asc", offset: 0, limit: 10_000 } as const;

	describe("a page by its place", () => {
		test("of everything is every charge, in the order of booking, in all units and in each", async () => {
			for (const account of [accountId, otherId]) {
				for (const currency of CURRENCIES) {
					const all = await expected(account, currency);
					expect(all.length).toBeGreaterThan(20);
					const found = await usagePage(admin, { ...page, accountId: account, currency });
					expect(told(found.entries)).toEqual(all);
					expect(found.total).toBe(all.length);
				}
			}
		});

		test("is the same slice of the same list wherever it begins, both ways", async () => {
			for (const currency of CURRENCIES) {
				const all = await expected(accountId, currency);
				for (let round = 0; round < 40; round++) {
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
				const all = await expected(accountId, currency);
				const [first, last] = [all[0]?.[0] ?? 0, all.at(-1)?.[0] ?? 0];
				expect(last).toBeGreaterThan(first);
				const instant = () => pick([null, first - 1, first, first + random(last - first), pick(all)[0], last, last + 1]);
				for (let round = 0; round < 40; round++) {
					const [fromMs, toMs] = [instant(), instant()];
					const within = all.filter(([at]) => at >= (fromMs ?? 0) && at < (toMs ?? Number.POSITIVE_INFINITY));
					const found = await usagePage(admin, { ...page, accountId, currency, fromMs, toMs, limit: 7 });
					expect(told(found.entries)).toEqual(within.slice(0, 7));
					expect(found.total).toBe(within.length);
				}
			}
		});

		test("of an account without charges is empty", async () => {
			expect(await usagePage(admin, { ...page, accountId: "acc_none", currency: null })).toEqual({ entries: [], total: 0 });
		});
	});

	describe("pages that follow each other", () => {
		const history = { fromMs: null, toMs: null, after: null } as const;

		test("neither skip nor repeat an entry while posts of all units are booked between them", async () => {
			for (const currency of CURRENCIES) {
				const seen: ReturnType<typeof told>[number][] = [];
				let after: number | null = null;
				for (let pages = 0; ; pages++) {
					const limit = 1 + random(40);
					const found: UsageHistory = await usageHistory(admin, { ...history, accountId, currency, after, limit });
					seen.push(...told(found.entries));
					after = found.next;
					if (after === null) break;
					if (pages < 10) await book(randomPost(100_000 + seq, accountId), randomPost(200_000 + seq, otherId));
				}
				expect(seen).toEqual(await expected(accountId, currency));
			}
		});

		test("end before an instant, also where entries come later", async () => {
			const all = await expected(accountId, null);
			const toMs = (all.at(-1)?.[0] ?? 0) + 1;
			const first = await usageHistory(admin, { ...history, accountId, currency: null, toMs, limit: all.length - 3 });
			expect(first.next).toBe(all.length - 3);
			while ((await expected(accountId, null)).at(-1)?.[0] === all.at(-1)?.[0]) await book(randomPost(300_000 + seq, accountId));
			const second = await usageHistory(admin, { ...history, accountId, currency: null, toMs, after: first.next, limit: 1_000 });
			expect(told(second.entries)).toEqual(all.slice(-3));
			expect(second.next).toBeNull();
		});
	});

	test("sums of days hold the same charges", async () => {
		const days = { keyId: null, firstDay: SAMPLE_DAY, lastDay: SAMPLE_DAY, topKeys: 8 };
		const sums = await usageSums(admin, { accountId, ...days });
		const all = await expected(accountId, null);
		const sumOf = (units: readonly string[]) =>
			all.filter(([, , , unit]) => units.includes(unit)).reduce((sum, [, , , , amount]) => sum + amount, 0);
		const [usd, diem] = [sumOf(["usd", "bundled"]), sumOf(["diem"])];
		expect(sums.byDay).toEqual([{ day: SAMPLE_DAY, usd, diem, units: expect.any(Number) }]);
		expect(sums.byKey).toEqual([{ id: null, description: "", last6: "", usd, diem, units: sums.byDay[0]?.units ?? 0 }]);
		expect(sums.bySku.reduce((sum, sku) => sum + sku.usd, 0)).toBe(usd);
		expect(sums.diemBySkuDay.reduce((sum, sku) => sum + sku.diem, 0)).toBe(diem);
		expect(sums.diemByKeyDay).toEqual([{ day: SAMPLE_DAY, id: null, diem }]);
		const before = await usageSums(admin, { accountId, ...days, firstDay: 0, lastDay: SAMPLE_DAY - 1 });
		expect(before).toEqual({ byDay: [], bySku: [], byKey: [], diemBySkuDay: [], diemByKeyDay: [] });
	});

	test("the balance is what the charges have left", async () => {
		const key = await createKey(admin, { accountId, type: "ADMIN", hash: "0".repeat(64), last6: "abcdef", limits: { usd: "1" } });
		const spent = async (unit: MoneySource) =>
			(await expected(accountId, unit)).reduce((sum, [, , , , amount]) => sum + amount, 0);
		const left = async (unit: MoneySource) => 50 * NANO_PER_USD - (await spent(unit));
		const nowMs = SAMPLE_DAY * DAY_MS + 1;
		const balance = await accountBalance(admin, { accountId, keyId: key.id, nowMs });
		expect(balance).toMatchObject({
			usd: await left("usd"),
			bundled: await left("bundled"),
			diem: await left("diem"),
			diemAllotted: 50 * NANO_PER_USD,
			key: { key: { id: key.id }, currentPeriod: { usd: 0n, diem: 0n } },
		});
		const yesterday = await accountBalance(admin, { accountId, keyId: key.id, nowMs: nowMs - DAY_MS });
		expect([yesterday.diem, yesterday.diemAllotted]).toEqual([0, 0]);
		const foreign = accountBalance(admin, { accountId: otherId, keyId: key.id, nowMs });
		expect(await foreign.then(String, (error: AdminError) => error.code)).toBe("NOT_FOUND");
	});

	test("a secret is made once, whoever asks for it at the same time", async () => {
		const others = [store.books.admin(), store.books.admin()];
		const secrets = await Promise.all([admin, ...others].map((one) => sharedSecret(one, { name: "usage-cursor" })));
		expect(new Set(secrets).size).toBe(1);
		expect(secrets[0]).toMatch(/^[0-9a-f]{64}$/);
	});

	test("an export has every charge of all accounts, and each request", async () => {
		const lines: ExportedLine[] = [];
		for await (const chunk of exportUsage(admin.db, { fromMs: null, toMs: Number.MAX_SAFE_INTEGER })) lines.push(...chunk);
		const charged = lines.filter(({ source }) => source !== null && source !== "overrun");
		const byAccount = (id: string) =>
			charged.filter((line) => line.accountId === id).map((line) => [line.requestId, line.sku, line.amount]);
		for (const id of [accountId, otherId])
			expect(byAccount(id)).toEqual((await expected(id, null)).map(([, request, sku, , amount]) => [request, sku, amount]));
		const requests = await admin.db.selectFrom("posts").select("request_id").orderBy("id").execute();
		expect([...new Set(lines.map(({ requestId: id }) => id))]).toEqual(requests.map((row) => row.request_id));
		const [middle, last] = [lines[Math.floor(lines.length / 2)]?.bookedAtMs ?? 0, lines.at(-1)?.bookedAtMs ?? 0];
		const part: ExportedLine[] = [];
		for await (const chunk of exportUsage(admin.db, { fromMs: middle, toMs: last })) part.push(...chunk);
		expect(part).toEqual(lines.filter(({ bookedAtMs }) => bookedAtMs >= middle && bookedAtMs < last));
	});

	test("numbers go on without a hole after a restart", async () => {
		await store.restart();
		await book(randomPost(400_000, accountId), randomPost(400_001, accountId));
		const found = await usagePage(admin, { ...page, accountId, currency: null });
		expect(told(found.entries)).toEqual(await expected(accountId, null));
		const counts = await admin.db
			.selectFrom("posts")
			.select((select) => select.fn.max("entries").as("last"))
			.where("account_id", "=", accountId)
			.executeTakeFirstOrThrow();
		expect(Number(counts.last)).toBe(found.total);
		expect((await store.books.audit()).findings.filter(({ check }) => check !== "rejected")).toEqual([]);
	});
}
