/** The guarantees for payments of wallets, and a wallet's history, on every store. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { requestId, sampleLine, samplePost } from "../../journal/testing/sample-records.ts";
import { type Nano, nano, pico } from "../../ledger/nano.ts";
import { type AdminInput, runOperation } from "../admin/operations.ts";
import type { TopUp } from "../admin/top-ups/top-up-row.ts";
import type { WalletEntryPage, WalletEntryRow } from "../admin/top-ups/wallet-entries.ts";
import { AdminError, type AdminStore } from "../admin.ts";
import { ownName } from "../wallet-callers.ts";
import type { PostingStore } from "./statement-contract.ts";

const PAYER = "0x52908400098527886e0f7030069857d2e4169ee7";
const IDENTITY = `eip155:8453:${PAYER}`;

async function faultCode(promise: Promise<unknown>): Promise<string> {
	try {
		await promise;
		return "none";
	} catch (error) {
		return error instanceof AdminError ? error.code : String(error);
	}
}

/** Defines the tests; each gets its own store. */
export function testTopUps(open: () => Promise<PostingStore>): void {
	let store: PostingStore;
	let admin: AdminStore;
	let nowMs: number;
	let seq: number;

	beforeEach(async () => {
		store = await open();
		nowMs = 1_728_000_000_000;
		admin = store.books.admin(() => nowMs);
		seq = 0;
	});
	afterEach(() => store.close());

	const begin = (id: string, more: Partial<AdminInput<"beginTopUp">> = {}) =>
		runOperation(admin, "beginTopUp", {
			id,
			network: "eip155:8453",
			asset: "0xa",
			payer: PAYER,
			nonce: `nonce of ${id}`,
			payTo: "0xb",
			units: 5_000_000,
			amount: 5_000_000_000,
			validBefore: 2_000_000_000,
			proof: "{}",
			fromBlock: 7,
			settler: "node_a",
			termMs: 1_000,
			...more,
		});
	const credit = (id: string, more: Partial<AdminInput<"creditTopUp">> = {}): Promise<TopUp> =>
		runOperation(admin, "creditTopUp", {
			id,
			identity: IDENTITY,
			transaction: `hash of ${id}`,
			block: 9,
			logIndex: 1,
			...more,
		});
	const entries = (offset: number, limit: number): Promise<WalletEntryPage> =>
		runOperation(admin, "walletEntries", { identity: IDENTITY, offset, limit });
	const due = async () => (await runOperation(admin, "listDueTopUps", { limit: 10 })).map(({ id }) => id);

	test("a payer's payments begin together only as far as its tokens go", async () => {
		const payerUnits = 12_000_000;
		await begin("payment_1", { payerUnits });
		await begin("payment_2", { payerUnits });
		const third = () => begin("payment_3", { payerUnits, settler: "node_b" });
		expect(await faultCode(third())).toBe("CONFLICT");
		// Payments of another payer, and one that the chain has accepted, do not count.
		await begin("payment_4", { payerUnits: 5_000_000, payer: "0x9" });
		await begin("payment_5", { units: 1 });
		// An existing row is the same payment.
		expect((await begin("payment_2", { payerUnits: 0 })).begun).toBe(false);
		await runOperation(admin, "failTopUp", { id: "payment_1", reason: "authorization_expired" });
		expect((await third()).begun).toBe(true);
	});

	test("one node is at a payment until its term ends, and ends it for good", async () => {
		const first = await begin("payment_1");
		expect([first.begun, first.mine, first.topUp.state]).toEqual([true, true, "settling"]);
		const other = await begin("payment_1", { settler: "node_b", proof: "[]" });
		expect([other.begun, other.mine, other.topUp.proof]).toEqual([false, false, "{}"]);
		expect(await due()).toEqual([]);
		nowMs += 1_001;
		expect(await due()).toEqual(["payment_1"]);
		const taken = await runOperation(admin, "takeTopUp", { id: "payment_1", settler: "node_b", termMs: 1_000 });
		expect([taken.mine, taken.topUp.settler]).toEqual([true, "node_b"]);
		// The node that lost it can change nothing any more.
		await runOperation(admin, "noteTopUp", { id: "payment_1", settler: "node_a", state: "unknown", transaction: "0x1" });
		const note = { id: "payment_1", settler: "node_b", state: "unknown", transaction: "0x2", lookInMs: 0 } as const;
		await runOperation(admin, "noteTopUp", note);
		const found = await runOperation(admin, "findTopUp", taken.topUp);
		expect([found?.state, found?.transaction]).toEqual(["unknown", "0x2"]);
		expect(await due()).toEqual(["payment_1"]);
		const failed = await runOperation(admin, "failTopUp", { id: "payment_1", reason: "expired" });
		expect([failed.state, failed.reason]).toEqual(["failed", "expired"]);
		expect(await due()).toEqual([]);
		expect((await begin("payment_1", { settler: "node_b" })).mine).toBe(false);
		expect(await faultCode(credit("payment_1"))).toBe("CONFLICT");
		expect(await faultCode(runOperation(admin, "takeTopUp", { id: "none", settler: "a", termMs: 1 }))).toBe("NOT_FOUND");
	});

	test("a credit is booked once, with the wallet's account, and is never failed or changed after it", async () => {
		await begin("payment_1");
		await begin("payment_2", { amount: 7_000_000_000, units: 7_000_000 });
		const first = await credit("payment_1");
		expect([first.state, first.credit?.balanceAfter]).toEqual(["credited", nano(5_000_000_000)]);
		expect((await credit("payment_2")).credit).toEqual({
			accountId: first.credit?.accountId ?? "",
			balanceAfter: nano(12_000_000_000),
		});
		expect(await credit("payment_1")).toEqual(first);
		expect(await runOperation(admin, "failTopUp", { id: "payment_1", reason: "late" })).toEqual(first);
		await expect(admin.db.updateTable("top_ups").set({ pay_to: "0xc" }).execute()).rejects.toThrow();
		await expect(admin.db.deleteFrom("top_ups").execute()).rejects.toThrow();
		const wallet = await runOperation(admin, "showWallet", { identity: IDENTITY });
		expect([wallet.balance, wallet.toppedUp, wallet.topUps]).toEqual([nano(12_000_000_000), nano(12_000_000_000), 2]);
		expect(await runOperation(admin, "listWallets", { after: null, limit: 5 })).toEqual([wallet]);
		expect(await runOperation(admin, "listWallets", { after: wallet, limit: 5 })).toEqual([]);
		const told = await admin.db.selectFrom("changes").select("hash").where("kind", "=", "key").execute();
		expect(told.map(({ hash }) => hash)).toContain(ownName(IDENTITY));
		expect((await store.books.audit()).ok).toBe(true);
	});

	test("one transfer credits one payment only", async () => {
		await begin("payment_1");
		await begin("payment_2");
		await credit("payment_1", { transaction: "0xaa", logIndex: 4 });
		await expect(credit("payment_2", { transaction: "0xaa", logIndex: 4 })).rejects.toThrow();
		expect((await runOperation(admin, "showWallet", { identity: IDENTITY })).balance).toBe(nano(5_000_000_000));
		await credit("payment_2", { transaction: "0xaa", logIndex: 6 });
		const all = await runOperation(admin, "listTopUps", { after: "", limit: 10 });
		expect(all.map(({ state, logIndex }) => [state, logIndex])).toEqual([
			["credited", 4],
			["credited", 6],
		]);
	});

	test("a wallet's history has one line a request, and its balances follow each other", async () => {
		expect(await entries(0, 50)).toEqual({ balance: nano(0), entries: [], hasMore: false });
		await begin("payment_1");
		const accountId = (await credit("payment_1")).credit?.accountId ?? "";
		await store.lease([accountId]);
		for (let number = 1; number <= 5; number++) {
			const lines = [sampleLine("in", 10, pico(80_000)), sampleLine("out", number, pico(160_000))];
			const post = samplePost(requestId(number), accountId, { lines, model: `model-${number}` });
			seq++;
			await store.book([{ seq, records: [JSON.stringify(post)], bytes: 0, end: { segment: 1, offset: 0 } }]);
		}
		await runOperation(admin, "refund", { requestId: requestId(3), accountId, amount: "0.0000005" });
		await begin("payment_2");
		await credit("payment_2");
		await runOperation(admin, "credit", { accountId, amount: "1" });
		const whole = await entries(0, 50);
		expect(whole.entries.map(({ type }) => type)).toEqual([
			"CREDIT",
			"TOP_UP",
			"REFUND",
			...Array.from({ length: 5 }, () => "CHARGE" as const),
			"TOP_UP",
		]);
		expect(whole.entries[2]).toMatchObject({ amount: 500, requestId: requestId(3), modelId: "model-3" });
		expect(whole.entries[3]).toMatchObject({ amount: -1_600, requestId: requestId(5), modelId: "model-5" });
		let balance: Nano = whole.balance;
		for (const entry of whole.entries) {
			expect(entry.balanceAfter).toBe(balance);
			balance = nano(balance - entry.amount);
		}
		expect(balance).toBe(nano(0));
		const paged = [];
		for (let offset = 0; ; offset += 2) {
			const page = await entries(offset, 2);
			paged.push(...page.entries);
			expect(page.hasMore).toBe(offset + 2 < whole.entries.length);
			if (!page.hasMore) break;
		}
		expect(paged).toEqual([...whole.entries]);
		expect(new Set(paged.map(({ id }) => id)).size).toBe(9);
		expect((await entries(9, 2)).entries).toEqual([]);
	});

	test("deep pages of a long history hold the same entries as it grows", async () => {
		await begin("payment_1");
		const accountId = (await credit("payment_1")).credit?.accountId ?? "";
		await store.lease([accountId]);
		const whole: WalletEntryRow[] = [];
		let number = 0;
		const grow = async (posts: number) => {
			const records = Array.from({ length: posts }, () => {
				number++;
				const lines = [sampleLine("in", 1, pico(80_000)), ...(number % 3 === 0 ? [sampleLine("out", 1, pico(160_000))] : [])];
				return JSON.stringify(samplePost(requestId(number), accountId, { lines }));
			});
			seq++;
			await store.book([{ seq, records, bytes: 0, end: { segment: 1, offset: 0 } }]);
			await runOperation(admin, "refund", { requestId: requestId(number), accountId, amount: "0.00000001" });
		};
		const read = async () => {
			whole.length = 0;
			for (let offset = 0, more = true; more; offset += 250) {
				const page = await entries(offset, 250);
				whole.push(...page.entries);
				more = page.hasMore;
			}
			let balance: Nano = (await entries(0, 1)).balance;
			for (const entry of whole) {
				expect(entry.balanceAfter).toBe(balance);
				balance = nano(balance - entry.amount);
			}
			expect(balance).toBe(nano(0));
			return whole.length;
		};
		for (let batch = 0; batch < 5; batch++) await grow(500);
		expect(await read()).toBe(1 + 5 * 501);
		// From now on there are marks.
		nowMs += 3_600_000;
		expect(await read()).toBe(1 + 5 * 501);
		await grow(40);
		expect(await read()).toBe(1 + 5 * 501 + 41);
		for (const [offset, left] of [
			[1_500, 3],
			[2_545, 2],
			[2_547, 0],
			[9_999, 0],
		] as const) {
			const page = await entries(offset, 3);
			expect([offset, page.entries]).toEqual([offset, whole.slice(offset, offset + 3)]);
			expect(page.entries.length).toBe(left);
			expect(page.hasMore).toBe(offset === 1_500);
		}
	});

	test("one send at a time has the turn of a key, until its term ends", async () => {
		const take = (holder: string, name = "key") => runOperation(admin, "takeBroadcastTurn", { name, holder, termMs: 1_000 });
		const [ofA, ofB, other] = await Promise.all([take("a"), take("b"), take("b", "other")]);
		expect([ofA !== ofB, other]).toEqual([true, true]);
		const [holder, waiter] = ofA ? ["a", "b"] : ["b", "a"];
		await runOperation(admin, "endBroadcastTurn", { name: "key", holder: waiter });
		expect(await take(waiter)).toBe(false);
		await runOperation(admin, "endBroadcastTurn", { name: "key", holder });
		expect(await take(waiter)).toBe(true);
		nowMs += 1_001;
		expect(await take(holder)).toBe(true);
	});
}
