/**
 * The guarantees of the operator's movements of money on every store: debits, refunds, and the lists of accounts and
 * money.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { MoneySource } from "../../journal/records.ts";
import { requestId, SAMPLE_DAY, sampleLine, samplePost } from "../../journal/testing/sample-records.ts";
import { findRequest } from "../../ledger/index.ts";
import { NANO_PER_USD, nano, pico } from "../../ledger/nano.ts";
import type { AccountView } from "../admin/account-view.ts";
import { runOperation } from "../admin/operations.ts";
import {
	AdminError,
	type AdminStore,
	createAccount,
	credit,
	debit,
	listAccounts,
	refund,
	setAccount,
	showAccount,
} from "../admin.ts";
import { openStore } from "../index.ts";
import type { StoreFolder } from "./store-folder.ts";

const DAY_MS = 86_400_000;
const CHARGED = requestId(1);

async function faultCode(promise: Promise<unknown>): Promise<string> {
	try {
		await promise;
		return "none";
	} catch (error) {
		return error instanceof AdminError ? error.code : String(error);
	}
}

/** Defines the tests; each gets its own books. */
export function testMoney(createStore: () => StoreFolder | Promise<StoreFolder>): void {
	let books: StoreFolder;
	let admin: AdminStore;
	let accountId: string;
	let nowMs = SAMPLE_DAY * DAY_MS;

	beforeEach(async () => {
		nowMs = SAMPLE_DAY * DAY_MS;
		books = await createStore();
		admin = books.admin(() => nowMs);
		({ id: accountId } = await createAccount(admin, { name: "a", startingCreditUsd: "100" }));
	});

	afterEach(async () => {
		const { findings } = await books.audit();
		await books.remove();
		expect(findings).toEqual([]);
	});

	const usd = (amount: number) => nano(amount * NANO_PER_USD);
	const balances = async (id = accountId) => (await showAccount(admin, id)).balances;

	/** Applies a request that these sources paid, this many USD each. */
	async function charge(id: string, paid: Partial<Record<MoneySource, number>>): Promise<void> {
		const { store, journal } = await openStore({
			dataDir: books.dir,
			postgres: books.postgres,
			journal: { minFreeDiskBytes: 0, segmentBytes: 256 * 1024 },
		});
		const total = Object.values(paid).reduce((sum, amount) => sum + amount, 0);
		await store.acquire({ accountId, day: SAMPLE_DAY, needNano: usd(total) });
		const lines = (Object.entries(paid) as [MoneySource, number][]).map(([source, amount]) =>
			sampleLine(`sku-${source}`, amount * 1_000, pico(1_000_000_000), source),
		);
		await journal.append(samplePost(id, accountId, { lines }));
		await store.close();
	}

	describe("a debit", () => {
		test("takes USD back once for each reference, by whom ever it is repeated", async () => {
			const first = await debit(admin, { accountId, amount: "12.5", reference: "back-1" });
			expect(first).toEqual({
				accountId,
				reference: "back-1",
				amount: usd(12.5),
				balance: usd(87.5),
				balanceAfter: usd(87.5),
				bookedAtMs: nowMs,
				replayed: false,
			});
			nowMs += 5_000;
			await debit(admin, { accountId, amount: "0.5" });
			const others = [admin, books.admin(), books.admin()];
			const again = await Promise.all(others.map((store) => debit(store, { accountId, amount: "12.500", reference: "back-1" })));
			expect(again).toEqual(others.map(() => ({ ...first, balance: usd(87), replayed: true })));
			expect((await balances()).usd).toBe(usd(87));
		});

		test("of parallel ones under one reference one is booked", async () => {
			const stores = Array.from({ length: 6 }, () => books.admin());
			const all = await Promise.all(stores.map((store) => debit(store, { accountId, amount: "60", reference: "once" })));
			expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1);
			expect((await balances()).usd).toBe(usd(40));
		});

		test("takes no more than there is, and nothing of what is leased", async () => {
			expect(await faultCode(debit(admin, { accountId, amount: "100.000000001" }))).toBe("INVALID");
			await admin.db
				.updateTable("budgets")
				.set({ leased: usd(90) })
				.where("account_id", "=", accountId)
				.execute();
			expect(await faultCode(debit(admin, { accountId, amount: "10.000000001" }))).toBe("MONEY_LEASED");
			await debit(admin, { accountId, amount: "10" });
			await admin.db.updateTable("budgets").set({ leased: 0 }).where("account_id", "=", accountId).execute();
			expect((await balances()).usd).toBe(usd(90));
		});

		test("of an unknown account, under a used reference, or of no amount is refused", async () => {
			const other = await createAccount(admin, { name: "b", startingCreditUsd: "5" });
			await credit(admin, { accountId, amount: "1", reference: "used-1" });
			await debit(admin, { accountId, amount: "1", reference: "used-2" });
			const wrong = [
				[{ accountId: "acc_x", amount: "1" }, "NOT_FOUND"],
				[{ accountId, amount: "1", reference: "used-1" }, "REFERENCE_USED"],
				[{ accountId, amount: "2", reference: "used-2" }, "REFERENCE_USED"],
				[{ accountId: other.id, amount: "1", reference: "used-2" }, "REFERENCE_USED"],
				[{ accountId, amount: "0" }, "INVALID"],
				[{ accountId, amount: "-1" }, "INVALID"],
				[{ accountId, amount: "1", reference: "a b" }, "INVALID"],
				[{ accountId, amount: "1", reference: "x".repeat(256) }, "INVALID"],
			] as const;
			for (const [request, code] of wrong) expect(await faultCode(debit(admin, request))).toBe(code);
			expect(await faultCode(credit(admin, { accountId, amount: "1", reference: "used-2" }))).toBe("REFERENCE_USED");
			await debit(admin, { accountId, amount: "1", reference: "x".repeat(255) });
		});

		test("leaves a notice for running nodes, and a repeat none", async () => {
			const notices = async () => (await admin.db.selectFrom("changes").select("id").execute()).length;
			const before = await notices();
			await debit(admin, { accountId, amount: "1", reference: "r" });
			expect(await notices()).toBe(before + 1);
			await debit(admin, { accountId, amount: "1", reference: "r" });
			expect(await notices()).toBe(before + 1);
		});
	});

	describe("a refund", () => {
		beforeEach(async () => {
			nowMs -= DAY_MS;
			await setAccount(admin, accountId, { stakeDiem: "3", bundledUsd: "2" });
			nowMs += DAY_MS;
			await charge(CHARGED, { diem: 3, bundled: 2, usd: 4 });
		});

		test("goes back to where the charge came from, USD first, diem to its own day", async () => {
			expect(await balances()).toEqual({ usd: usd(96), bundled: nano(0), diem: nano(0) });
			const part = await refund(admin, { requestId: CHARGED, amount: "4.5" });
			expect(part.parts).toEqual([
				{ source: "bundled", amount: usd(0.5), balanceAfter: usd(0.5) },
				{ source: "usd", amount: usd(4), balanceAfter: usd(100) },
			]);
			nowMs += 2 * DAY_MS;
			const rest = await refund(admin, { requestId: CHARGED });
			expect(rest).toMatchObject({ amount: usd(4.5), accountId, reference: `refund:${CHARGED}`, replayed: false });
			expect(rest.parts).toEqual([
				{ source: "bundled", amount: usd(1.5), balanceAfter: usd(2) },
				{ source: "diem", amount: usd(3), balanceAfter: usd(3) },
			]);
			const days = await admin.db.selectFrom("budgets").select(["day", "balance"]).where("source", "=", "diem").execute();
			expect(days.map(({ day, balance }) => [Number(day), Number(balance)])).toEqual([[SAMPLE_DAY, usd(3)]]);
			const known = await findRequest(admin.db, CHARGED);
			expect([known?.refunded, known?.price]).toEqual([usd(9), usd(9)]);
		});

		test("is booked once for each reference, and the whole one without a name too", async () => {
			const first = await refund(admin, { requestId: CHARGED, amount: "1", reference: "sorry-1" });
			const again = await Promise.all(
				[admin, books.admin()].map((store) => refund(store, { requestId: CHARGED, amount: "1.0", reference: "sorry-1" })),
			);
			expect(again).toEqual([
				{ ...first, replayed: true },
				{ ...first, replayed: true },
			]);
			const whole = await Promise.all([admin, books.admin(), admin].map((store) => refund(store, { requestId: CHARGED })));
			expect(whole.filter(({ replayed }) => !replayed)).toHaveLength(1);
			expect(new Set(whole.map(({ amount }) => amount))).toEqual(new Set([usd(8)]));
			expect((await balances()).usd).toBe(usd(100));
		});

		test("is never more than what was charged, however many there are at once", async () => {
			const outcomes = await Promise.all(
				Array.from({ length: 12 }, () => faultCode(refund(books.admin(), { requestId: CHARGED, amount: "1" }))),
			);
			expect(outcomes.filter((code) => code === "none")).toHaveLength(9);
			expect(outcomes.filter((code) => code === "INVALID")).toHaveLength(3);
			expect(await faultCode(refund(admin, { requestId: CHARGED }))).toBe("INVALID");
		});

		test("of what is not there, of another account or under a used reference is refused", async () => {
			const other = await createAccount(admin, { name: "b" });
			await credit(admin, { accountId, amount: "1", reference: "used" });
			await refund(admin, { requestId: CHARGED, amount: "1", reference: "mine" });
			await charge(requestId(2), { usd: 1 });
			await charge(requestId(3), {});
			const wrong = [
				[{ requestId: requestId(9) }, "NOT_FOUND"],
				[{ requestId: CHARGED, accountId: other.id }, "NOT_FOUND"],
				[{ requestId: requestId(3) }, "INVALID"],
				[{ requestId: CHARGED, amount: "8.000000001" }, "INVALID"],
				[{ requestId: CHARGED, amount: "0" }, "INVALID"],
				[{ requestId: CHARGED, amount: "1", reference: "used" }, "REFERENCE_USED"],
				[{ requestId: CHARGED, amount: "2", reference: "mine" }, "REFERENCE_USED"],
				[{ requestId: CHARGED, reference: "mine" }, "REFERENCE_USED"],
				[{ requestId: requestId(2), amount: "1", reference: "mine" }, "REFERENCE_USED"],
			] as const;
			for (const [request, code] of wrong) expect(await faultCode(refund(admin, request))).toBe(code);
			expect(await faultCode(debit(admin, { accountId, amount: "1", reference: "mine" }))).toBe("REFERENCE_USED");
		});

		test("stands among all movements, by currency, time and order, page by page", async () => {
			await refund(admin, { requestId: CHARGED, reference: "all" });
			await debit(admin, { accountId, amount: "1", reference: "d" });
			const everything = { accountId, currency: null, fromMs: null, toMs: null, order: "desc", after: null, limit: 10 } as const;
			const list = (part: object = {}) => runOperation(admin, "listMovements", { ...everything, ...part });
			const all = await list();
			expect(all.map(({ kind, source }) => [kind, source])).toEqual([
				["debit", "usd"],
				["refund", "usd"],
				["refund", "diem"],
				["refund", "bundled"],
				["credit", "usd"],
			]);
			expect(await list({ order: "asc" })).toEqual(all.toReversed());
			expect(await list({ currency: "diem" })).toEqual(all.slice(2, 3));
			expect(await list({ currency: "usd", order: "asc" })).toEqual(all.filter(({ source }) => source === "usd").toReversed());
			expect(await list({ order: "asc", after: all[3]?.place, limit: 2 })).toEqual(all.slice(1, 3).toReversed());
			expect(await list({ after: all[1]?.place, limit: 2 })).toEqual(all.slice(2, 4));
			const times = all.map(({ bookedAtMs }) => bookedAtMs);
			const [first = 0, last = 0] = [Math.min(...times), Math.max(...times)];
			expect(await list({ fromMs: first, toMs: last + 1 })).toEqual(all);
			expect(await list({ toMs: last })).toEqual(all.filter(({ bookedAtMs }) => bookedAtMs < last));
			expect(await list({ fromMs: last + 1 })).toEqual([]);
			expect(await list({ toMs: first })).toEqual([]);
		});

		test("stands in the lists with what it gave back", async () => {
			await refund(admin, { requestId: CHARGED, reference: "all" });
			await debit(admin, { accountId, amount: "1", reference: "d" });
			const list = (what: "credits" | "debits" | "refunds", before: number | null = null, limit = 10) =>
				runOperation(admin, "listMoney", { what, accountId, before, limit });
			expect((await list("debits")).map(({ reference, amount, source }) => [reference, amount, source])).toEqual([
				["d", usd(1), "usd"],
			]);
			const refunds = await list("refunds");
			expect(refunds.map(({ source, amount, requestId: of }) => [source, amount, of])).toEqual([
				["usd", usd(4), CHARGED],
				["diem", usd(3), CHARGED],
				["bundled", usd(2), CHARGED],
			]);
			expect(await list("refunds", refunds[0]?.place, 1)).toEqual(refunds.slice(1, 2));
			expect((await list("credits")).map(({ reference }) => reference)).toEqual([`starting-credit:${accountId}`]);
			expect(
				await faultCode(runOperation(admin, "listMoney", { what: "debits", accountId: "acc_x", before: null, limit: 1 })),
			).toBe("NOT_FOUND");
		});
	});

	describe("accounts", () => {
		test("are listed in pages from both ends, those of one instant too, with what each has", async () => {
			const made = [accountId];
			for (let count = 0; count < 6; count++) {
				nowMs += count % 2;
				made.push((await createAccount(admin, { name: `n${count}`, startingCreditUsd: String(count) })).id);
			}
			await setAccount(admin, made[3] ?? "", { bundledUsd: "7", stakeDiem: "2" });
			for (const order of ["oldest-first", "newest-first"] as const) {
				const seen: AccountView[] = [];
				for (;;) {
					const last = seen.at(-1) ?? null;
					const page: AccountView[] = await runOperation(admin, "listAccounts", { order, after: last, limit: 2 });
					if (page.length === 0) break;
					seen.push(...page);
				}
				expect(seen.map(({ id }) => id).sort()).toEqual(made.toSorted());
				const times = seen.map(({ createdAtMs }) => createdAtMs);
				expect(order === "oldest-first" ? times : times.toReversed()).toEqual(times.toSorted((a, b) => a - b));
				for (const view of seen) expect(view).toEqual(await showAccount(admin, view.id));
			}
			expect(
				(await Array.fromAsync(listAccounts(admin)))
					.flat()
					.map(({ id }) => id)
					.sort(),
			).toEqual(made.toSorted());
		});

		test("are made once under an id", async () => {
			const id = `acc_${"x".repeat(24)}`;
			const make = (store: AdminStore, more: object = {}) =>
				runOperation(store, "createAccount", { id, name: "once", startingCreditUsd: "2", ...more });
			const all = await Promise.all([admin, books.admin(), books.admin()].map((store) => make(store)));
			expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1);
			expect((await balances(id)).usd).toBe(usd(2));
			expect(await faultCode(make(admin, { name: "other" }))).toBe("REFERENCE_USED");
			expect(await faultCode(make(admin, { startingCreditUsd: "3" }))).toBe("REFERENCE_USED");
			expect(await faultCode(make(admin, { id: "acc_short" }))).toBe("INVALID");
		});
	});
}
