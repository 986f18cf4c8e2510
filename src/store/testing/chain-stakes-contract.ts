/** The guarantees of stake readings, and of keys that wallets create, on every store. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { NANO_PER_USD } from "../../ledger/nano.ts";
import { type AdminInput, runOperation } from "../admin/operations.ts";
import { AdminError, type AdminStore, createAccount, setAccount, showAccount } from "../admin.ts";
import type { StoreFolder } from "./store-folder.ts";

const DAY_MS = 86_400_000;
/** 2024-02-29. */
const DAY = 19_782;
const BLOCK = { number: 100, hash: `0x${"ab".repeat(32)}` };
let made = 0;

const wallet = (index: number) => `0x${index.toString(16).padStart(40, "0")}`;

async function faultCode(promise: Promise<unknown>): Promise<string> {
	return promise.then(
		() => "none",
		(error: unknown) => (error instanceof AdminError ? error.code : String(error)),
	);
}

/** Defines the tests; each gets its own books. */
export function testChainStakes(createStore: () => StoreFolder | Promise<StoreFolder>): void {
	let books: StoreFolder;
	let admin: AdminStore;
	let nowMs: number;

	beforeEach(async () => {
		nowMs = (DAY - 1) * DAY_MS + 3_600_000;
		books = await createStore();
		admin = books.admin(() => nowMs);
	});

	afterEach(() => books.remove());

	async function staker(index: number): Promise<string> {
		const { id } = await createAccount(admin, { name: `staker ${index}` });
		await setAccount(admin, id, { wallet: wallet(index) });
		return id;
	}

	const take = (reader: string, day = DAY, origin = "a") =>
		runOperation(admin, "takeStakeReading", { day, origin, reader, termMs: 1_000 });
	const unread = async (day = DAY) =>
		(await runOperation(admin, "listUnreadStakers", { day, after: "", limit: 100 })).map((found) => found.wallet).sort();
	const write = (accountId: string, index: number, diem: number, day = DAY) =>
		runOperation(admin, "writeStakes", {
			day,
			reader: "n1",
			termMs: 1_000,
			stakes: [{ accountId, wallet: wallet(index), stake: diem * NANO_PER_USD }],
		});
	const stakeToday = async (accountId: string) => Number((await showAccount(admin, accountId)).stake.today) / NANO_PER_USD;
	const nextDay = () => {
		nowMs = DAY * DAY_MS + 1_000;
	};

	test("one node reads a day; another takes over when its term has ended, at the block that was chosen first", async () => {
		expect(await take("n1")).toEqual({ turn: "read", block: null });
		expect(await take("n2")).toEqual({ turn: "wait" });
		expect(await runOperation(admin, "chooseStakeBlock", { day: DAY, block: BLOCK })).toEqual(BLOCK);
		nowMs += 1_001;
		expect(await take("n2")).toEqual({ turn: "read", block: BLOCK });
		const other = { number: 101, hash: `0x${"cd".repeat(32)}` };
		expect(await runOperation(admin, "chooseStakeBlock", { day: DAY, block: other })).toEqual(BLOCK);
		expect(await take("n1")).toEqual({ turn: "wait" });
		expect(await runOperation(admin, "finishStakeReading", { day: DAY })).toBe(true);
		expect(await take("n1")).toEqual({ turn: "done" });
		expect(await take("n1", DAY + 1)).toEqual({ turn: "read", block: null });
	});

	test("a day that was begun at one contract is not gone on with at another", async () => {
		await take("n1");
		expect(await take("n1", DAY, "b")).toEqual({ turn: "read", block: null });
		await runOperation(admin, "chooseStakeBlock", { day: DAY, block: BLOCK });
		expect(await take("n1", DAY, "a")).toEqual({ turn: "other-origin", origin: "b" });
	});

	test("of nodes that come at once one reads", async () => {
		const admins = [admin, books.admin(() => nowMs), books.admin(() => nowMs)];
		const turns = await Promise.all(
			admins.map((store, index) =>
				runOperation(store, "takeStakeReading", { day: DAY, origin: "a", reader: `n${index}`, termMs: 1_000 }),
			),
		);
		expect(turns.filter(({ turn }) => turn === "read")).toHaveLength(1);
		expect(turns.filter(({ turn }) => turn === "wait")).toHaveLength(2);
	});

	test("a stake read from the chain counts for its own day only", async () => {
		const id = await staker(1);
		nextDay();
		expect(await unread()).toEqual([wallet(1)]);
		await write(id, 1, 2.5);
		expect(await unread()).toEqual([]);
		expect([await stakeToday(id), (await showAccount(admin, id)).balances.diem]).toEqual([2.5, (2.5 * NANO_PER_USD) as never]);
		expect((await showAccount(admin, id)).stake.next).toBeNull();
		nowMs += DAY_MS;
		expect(await stakeToday(id)).toBe(0);
		expect(await unread(DAY + 1)).toEqual([wallet(1)]);
	});

	test("who is linked in the course of a day is read from the next day on, also where that day's reading is still to come", async () => {
		nextDay();
		const late = await staker(1);
		expect(await unread()).toEqual([]);
		await write(late, 1, 5);
		expect(await stakeToday(late)).toBe(0);
		expect(await unread(DAY + 1)).toEqual([wallet(1)]);
	});

	test("a machine whose clock is behind cannot link a wallet into a day that is being read", async () => {
		await take("n1");
		const id = await staker(1);
		expect(await unread()).toEqual([]);
		await setAccount(admin, id, { wallet: null });
		expect(await unread(DAY + 1)).toEqual([]);
	});

	test("a wallet that goes to another account while it is read counts for none of them twice", async () => {
		const first = await staker(1);
		const { id: second } = await createAccount(admin, { name: "second" });
		nextDay();
		await take("n1");
		await setAccount(admin, first, { wallet: null });
		await setAccount(admin, second, { wallet: wallet(1) });
		await write(first, 1, 5);
		await write(second, 1, 5);
		expect([await stakeToday(first), await stakeToday(second)]).toEqual([0, 0]);
	});

	test("a page is booked at once, and told to the nodes of those who may spend it", async () => {
		const ids: string[] = [];
		for (let index = 1; index <= 200; index++) ids.push(await staker(index));
		nextDay();
		const notices = async () => (await admin.db.selectFrom("changes").select("account_id").execute()).length;
		const before = await notices();
		const stakes = ids.map((accountId, index) => ({ accountId, wallet: wallet(index + 1), stake: index * 1_000_000 }));
		for (let count = 0; count < 2; count++) {
			await runOperation(admin, "writeStakes", { day: DAY, reader: "n1", termMs: 1_000, stakes });
			expect(await unread()).toEqual([]);
			// 0.1 diem and more.
			expect((await notices()) - before).toBe(100);
		}
		expect(await stakeToday(ids[150] ?? "")).toBe(0.15);
		await runOperation(admin, "writeStakes", { day: DAY, reader: "n1", termMs: 1_000, stakes: [] });
	});

	test("two accounts that are given one wallet at once: one has it", async () => {
		const accounts = [await createAccount(admin, { name: "a" }), await createAccount(admin, { name: "b" })];
		const other = books.admin(() => nowMs);
		const outcomes = await Promise.all(
			accounts.map(({ id }, index) => faultCode(setAccount(index === 0 ? admin : other, id, { wallet: wallet(1) }))),
		);
		expect(outcomes.sort()).toEqual(["CONFLICT", "none"]);
	});

	test("a stake that the operator set is not read from the chain until it is handed over", async () => {
		const id = await staker(1);
		await setAccount(admin, id, { stakeDiem: "3" });
		nextDay();
		expect(await unread()).toEqual([]);
		await write(id, 1, 9);
		expect(await stakeToday(id)).toBe(3);
		const view = await setAccount(admin, id, { stakeDiem: "chain" });
		expect(view.stake).toMatchObject({ source: "chain", next: null });
		expect(await stakeToday(id)).toBe(3);
		expect(await unread()).toEqual([]);
		nowMs += DAY_MS;
		expect(await stakeToday(id)).toBe(0);
		expect(await unread(DAY + 1)).toEqual([wallet(1)]);
		await write(id, 1, 9, DAY + 1);
		expect(await stakeToday(id)).toBe(9);
		await setAccount(admin, id, { stakeDiem: "4" });
		expect(await stakeToday(id)).toBe(9);
		nowMs += DAY_MS;
		expect(await stakeToday(id)).toBe(4);
		nowMs += 30 * DAY_MS;
		expect(await stakeToday(id)).toBe(4);
	});

	test("a reading ends only when everybody was read", async () => {
		const id = await staker(1);
		nextDay();
		await take("n1");
		expect(await runOperation(admin, "finishStakeReading", { day: DAY })).toBe(false);
		await write(id, 1, 0);
		expect(await runOperation(admin, "finishStakeReading", { day: DAY })).toBe(true);
	});

	test("old readings are forgotten, but none that hides an older stake of the operator", async () => {
		const id = await staker(1);
		const other = await staker(2);
		await setAccount(admin, id, { stakeDiem: "3" });
		nextDay();
		await setAccount(admin, id, { stakeDiem: "chain" });
		await take("n1", DAY + 1);
		for (const index of [1, 2]) await write(index === 1 ? id : other, index, 9, DAY + 1);
		nowMs += 60 * DAY_MS;
		await take("n1", DAY + 60);
		await write(other, 2, 9, DAY + 60);
		await setAccount(admin, id, { wallet: null });
		expect(await runOperation(admin, "finishStakeReading", { day: DAY + 60 })).toBe(true);
		expect(await stakeToday(id)).toBe(0);
		const rows = await admin.db
			.selectFrom("diem_stakes")
			.select(["account_id", "from_day"])
			.where("source", "=", "chain")
			.execute();
		expect(rows.map((row) => [row.account_id === id, Number(row.from_day)]).sort()).toEqual([
			[false, DAY + 60],
			[true, DAY + 1],
		]);
	});

	test("stakers are listed in pages", async () => {
		for (let index = 1; index <= 5; index++) await staker(index);
		const seen: string[] = [];
		for (let after = ""; ; ) {
			const page = await runOperation(admin, "listUnreadStakers", { day: DAY, after, limit: 2 });
			seen.push(...page.map((found) => found.wallet));
			const last = page.at(-1);
			if (last === undefined) break;
			after = last.accountId;
		}
		expect(seen.sort()).toEqual([1, 2, 3, 4, 5].map(wallet));
	});

	const web3Key = (store: AdminStore, index: number, tokenId: string, more: Partial<AdminInput<"createWeb3Key">> = {}) =>
		runOperation(store, "createWeb3Key", {
			type: "INFERENCE",
			hash: (++made).toString(16).padStart(64, "0"),
			last6: "abcdef",
			maxActiveKeys: 3,
			nowMs,
			wallet: wallet(index),
			token: { id: tokenId, expiresAtMs: nowMs + 900_000 },
			...more,
		});

	test("a wallet's first key makes its account, and later ones are added to it", async () => {
		const first = await web3Key(admin, 7, "t1");
		const second = await web3Key(admin, 7, "t2");
		expect(second.accountId).toBe(first.accountId);
		const account = await showAccount(admin, first.accountId);
		expect(account).toMatchObject({ wallet: wallet(7), name: wallet(7), operator: false, stake: { source: "chain" } });
		expect(await unread()).toEqual([wallet(7)]);
		await web3Key(admin, 7, "t3");
		expect(await faultCode(web3Key(admin, 7, "t4"))).toBe("INVALID");
		expect((await books.audit()).findings).toEqual([]);
	});

	test("an account that has the wallet already gets the key", async () => {
		const id = await staker(7);
		expect((await web3Key(admin, 7, "t1")).accountId).toBe(id);
	});

	test("a token that many use at once makes one key, and a wallet that mints many at once has one account", async () => {
		const admins = [admin, books.admin(() => nowMs), books.admin(() => nowMs)];
		const same = await Promise.all(admins.map((store) => faultCode(web3Key(store, 7, "t1"))));
		expect(same.sort()).toEqual(["CONFLICT", "CONFLICT", "none"]);
		const keys = await Promise.all(admins.map((store, index) => web3Key(store, 8, `u${index}`)));
		expect(new Set(keys.map((key) => key.accountId)).size).toBe(1);
	});

	test("a call that is run again is no second use of its token, and what it refuses uses none", async () => {
		const again = { hash: (++made).toString(16).padStart(64, "0") };
		expect(await web3Key(admin, 7, "t1", again)).toEqual(await web3Key(admin, 7, "t1", again));
		expect(await faultCode(web3Key(admin, 7, "t2", { maxActiveKeys: 1 }))).toBe("INVALID");
		expect(await faultCode(web3Key(admin, 7, "t2"))).toBe("none");
	});

	test("tokens are forgotten when they have expired", async () => {
		await web3Key(admin, 7, "t1");
		nowMs += 900_000;
		await web3Key(admin, 7, "t2");
		expect(await admin.db.selectFrom("used_tokens").select("id").execute()).toEqual([{ id: "t2" }]);
	});

	test("a token serves once, whoever asks, and is forgotten when it has expired", async () => {
		const other = books.admin(() => nowMs);
		const use = (store: AdminStore, id: string) => runOperation(store, "useToken", { id, expiresAtMs: nowMs + 60_000, nowMs });
		const uses = await Promise.all([admin, other, admin, other, admin, other].map((store) => use(store, "a")));
		expect(uses.filter((first) => first)).toHaveLength(1);
		expect(await use(other, "b")).toBe(true);
		nowMs += 59_999;
		expect([await use(admin, "a"), await use(other, "b")]).toEqual([false, false]);
		nowMs += 1;
		expect(await use(admin, "c")).toBe(true);
		expect(await admin.db.selectFrom("used_tokens").select("id").execute()).toEqual([{ id: "c" }]);
	});

	test("a wallet's standing tells its account's stake, and null where it has none", async () => {
		const standing = (index: number) => runOperation(admin, "walletStanding", { wallet: wallet(index), nowMs });
		expect(await standing(1)).toBeNull();
		const id = await staker(1);
		expect(await standing(1)).toEqual({ disabled: false, source: "chain", stake: 0 });
		await setAccount(admin, id, { stakeDiem: "2" });
		expect(await standing(1)).toEqual({ disabled: false, source: "operator", stake: 2 * NANO_PER_USD });
	});
}
