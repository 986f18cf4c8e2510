/** The guarantees of the operations behind `StorePort.admin` on every store. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { type ExceededLimit, KEPT_EXCEEDED_LIMITS } from "../admin/exceeded-limits.ts";
import { type AdminInput, runOperation } from "../admin/operations.ts";
import { AdminError, type AdminStore, createKey, disableAccount } from "../admin.ts";
import { runRead } from "../reader/reads.ts";
import type { StoreFolder } from "./store-folder.ts";

const DAY_MS = 86_400_000;
/** 2024-02-29, a Thursday. */
const DAY = 19_782;
const NOW = DAY * DAY_MS + 12 * 3_600_000;
let made = 0;

async function faultCode(promise: Promise<unknown>): Promise<string> {
	try {
		await promise;
		return "none";
	} catch (error) {
		return error instanceof AdminError ? error.code : String(error);
	}
}

/** Defines the tests; each gets its own books. */
export function testAdminOperations(createStore: () => StoreFolder | Promise<StoreFolder>): void {
	let books: StoreFolder;
	let admin: AdminStore;
	let accountId: string;
	let nowMs = NOW;

	beforeEach(async () => {
		nowMs = NOW;
		books = await createStore();
		admin = books.admin(() => nowMs++);
		accountId = await books.account();
	});

	afterEach(() => books.remove());

	const hash = () => (++made).toString(16).padStart(64, "0");
	const createTestKey = (more: Partial<AdminInput<"createKey">> = {}) =>
		runOperation(admin, "createKey", {
			accountId,
			type: "INFERENCE",
			hash: hash(),
			last6: "abcdef",
			maxActiveKeys: 500,
			nowMs,
			...more,
		});
	const update = (keyId: string, changes: AdminInput<"updateKey">["changes"]) =>
		runOperation(admin, "updateKey", { accountId, keyId, changes });
	const get = (keyId: string) => runOperation(admin, "getKey", { accountId, keyId, nowMs });
	const list = (page?: { offset: number; limit: number }) =>
		runOperation(admin, "listKeys", { accountId, nowMs, ...(page ? { page } : {}) });
	const notices = async () => (await admin.db.selectFrom("changes").select("id").where("kind", "=", "key").execute()).length;

	/** Writes a row of the daily sums, as posts leave them. */
	async function spend(
		keyId: string,
		day: number,
		unit: "usd" | "bundled" | "diem" | "overrun",
		amount: number | bigint,
	): Promise<void> {
		await admin.db
			.insertInto("usage_daily")
			.values({ account_id: accountId, key_id: keyId, day, unit, sku: "s", amount, units: 1, rows: 1 })
			.execute();
	}

	test("active keys are listed newest first, in pages that count all of them", async () => {
		const keys = [];
		for (let count = 0; count < 5; count++) keys.push((await createTestKey()).id);
		await createTestKey({ expiresAtMs: NOW });
		await runOperation(admin, "revokeKey", { accountId, keyId: (await createTestKey()).id });
		const foreign = (await books.account()) as string;
		await createTestKey({ accountId: foreign });
		keys.reverse();
		const all = await list();
		expect([all.total, all.keys.map(({ key }) => key.id)]).toEqual([5, keys]);
		const second = await list({ offset: 2, limit: 2 });
		expect([second.total, second.keys.map(({ key }) => key.id)]).toEqual([5, keys.slice(2, 4)]);
		expect(await list({ offset: 10, limit: 2 })).toEqual({ total: 5, keys: [] });
		expect(await runOperation(admin, "countActiveKeys", { accountId, nowMs })).toBe(5);
	});

	test("an account gets no more active keys than it may have, also by parallel requests", async () => {
		const outcomes = await Promise.all(Array.from({ length: 12 }, () => faultCode(createTestKey({ maxActiveKeys: 7 }))));
		expect(outcomes.filter((code) => code === "none")).toHaveLength(7);
		expect(outcomes.filter((code) => code === "INVALID")).toHaveLength(5);
		const { keys } = await list();
		const [first] = keys;
		if (first === undefined) throw new Error("no key");
		await runOperation(admin, "revokeKey", { accountId, keyId: first.key.id });
		expect(await faultCode(createTestKey({ maxActiveKeys: 7 }))).toBe("none");
		expect(await faultCode(createTestKey({ maxActiveKeys: 7 }))).toBe("INVALID");
	});

	test("usage is that of the UTC day and the six before it, bundled credit with the USD, overrun left out", async () => {
		const { id } = await createTestKey();
		await spend(id, DAY, "usd", 1);
		await spend(id, DAY - 6, "bundled", 20);
		await spend(id, DAY - 3, "diem", 300);
		await spend(id, DAY - 7, "usd", 4_000);
		await spend(id, DAY + 1, "usd", 50_000);
		await spend(id, DAY, "overrun", 600_000);
		await spend((await createTestKey()).id, DAY, "usd", 7_000_000);
		expect((await get(id)).trailingSevenDays).toEqual({ usd: 21n, diem: 300n });
		expect((await get(id)).currentPeriod).toBeNull();
	});

	test("sums may pass 2^53", async () => {
		const { id } = await createTestKey({ limits: { usd: "1" }, limitPeriod: "LIFETIME" });
		await spend(id, DAY, "usd", 9_000_000_000_000_000n);
		await spend(id, DAY, "bundled", 9_000_000_000_000_001n);
		expect((await get(id)).currentPeriod?.usd).toBe(18_000_000_000_000_001n);
	});

	test.each([
		["EPOCH", 1n],
		["MONTH", 111n],
		["LIFETIME", 11_111n],
	] as const)("a key with a limit by %s tells what it spent in that window", async (limitPeriod, spent) => {
		const { id } = await createTestKey({ limits: { diem: "5" }, limitPeriod });
		await spend(id, DAY, "diem", 1);
		await spend(id, DAY - 28, "diem", 10);
		await spend(id, DAY - 1, "diem", 100);
		await spend(id, DAY - 29, "diem", 1_000);
		await spend(id, DAY + 1, "diem", 10_000);
		expect((await get(id)).currentPeriod).toEqual({ usd: 0n, diem: spent });
		const listed = (await list()).keys.find(({ key }) => key.id === id);
		expect(listed?.currentPeriod?.diem).toBe(spent);
	});

	test("a change replaces what it names and leaves the rest", async () => {
		const { id } = await createTestKey({ limits: { usd: "5", vcu: "2" }, description: "a" });
		await update(id, { limits: { usd: null, diem: "0" }, limitPeriod: "MONTH" });
		await update(id, { description: "b", restrictions: { models: ["m"] } });
		await update(id, { restrictions: { endpoints: ["chat"] }, expiresAtMs: NOW * 2 });
		expect((await get(id)).key).toMatchObject({
			limits: { usd: null, diem: "0", vcu: "2" },
			limitPeriod: "MONTH",
			description: "b",
			expiresAtMs: NOW * 2,
			restrictions: { models: ["m"], endpoints: ["chat"], networks: null, addresses: null },
		});
		await update(id, { restrictions: { models: null, endpoints: null }, expiresAtMs: null });
		expect((await get(id)).key).toMatchObject({ restrictions: null, expiresAtMs: null });
	});

	test("each change leaves a notice, and one that changes nothing none", async () => {
		const { id } = await createTestKey();
		expect(await notices()).toBe(1);
		await update(id, {});
		expect(await notices()).toBe(1);
		await update(id, { description: "x" });
		await runOperation(admin, "revokeKey", { accountId, keyId: id });
		expect(await notices()).toBe(3);
	});

	test("parallel changes of different members are all kept", async () => {
		const { id } = await createTestKey();
		const changes = [{ limits: { usd: "1" } }, { limits: { diem: "2" } }, { limits: { vcu: "3" } }, { description: "d" }];
		await Promise.all(changes.map((change) => update(id, change)));
		expect((await get(id)).key).toMatchObject({ limits: { usd: "1", diem: "2", vcu: "3" }, description: "d" });
	});

	test("a key of another account, a revoked one and one that never was are all the same", async () => {
		const foreign = await books.account();
		const theirs = await createKey(admin, { accountId: foreign, type: "ADMIN", hash: hash(), last6: "abcdef" });
		const revoked = await createTestKey();
		await runOperation(admin, "revokeKey", { accountId, keyId: revoked.id });
		const texts = new Set<string>();
		const say = (call: Promise<unknown>) =>
			call.then(
				() => texts.add("done"),
				(error: AdminError) => texts.add(`${error.code} ${error.message}`),
			);
		for (const keyId of [theirs.id, revoked.id, "", "'; DROP TABLE keys"]) {
			await say(get(keyId));
			await say(update(keyId, { description: "x" }));
			await say(runOperation(admin, "revokeKey", { accountId, keyId }));
		}
		expect([...texts]).toEqual(["NOT_FOUND there is no such key"]);
	});

	test("limits and texts that the store cannot keep are refused, whoever asks", async () => {
		const { id } = await createTestKey();
		for (const usd of ["-1", "1e3", "10000000000", "0.1234567891", "", " 1", "NaN"])
			expect(await faultCode(update(id, { limits: { usd } }))).toBe("INVALID");
		expect(await faultCode(update(id, { description: "x".repeat(257) }))).toBe("INVALID");
		expect(await faultCode(update(id, { expiresAtMs: 1.5 }))).toBe("INVALID");
		expect(await faultCode(createTestKey({ accountId: "acc_none" }))).toBe("NOT_FOUND");
	});

	test("of the requests that limits refused the last fifty of each account are kept", async () => {
		const other = await books.account();
		const entry = (atMs: number, account = accountId): ExceededLimit => ({
			accountId: account,
			keyId: "k",
			modelId: "m",
			tier: "paid",
			kind: "RPM",
			atMs,
		});
		await runOperation(admin, "noteExceededLimits", []);
		await runOperation(admin, "noteExceededLimits", [entry(1), entry(2, other), entry(3)]);
		const logged = async (account: string) =>
			(await runOperation(admin, "listExceededLimits", { accountId: account })).map(({ atMs }) => atMs);
		expect(await logged(accountId)).toEqual([3, 1]);
		await runOperation(
			admin,
			"noteExceededLimits",
			Array.from({ length: KEPT_EXCEEDED_LIMITS }, (_, index) => entry(10 + index)),
		);
		expect(await logged(accountId)).toEqual(Array.from({ length: KEPT_EXCEEDED_LIMITS }, (_, index) => 59 - index));
		expect(await logged(other)).toEqual([2]);
	});

	test("a disabled account keeps its keys", async () => {
		const { id } = await createTestKey();
		await disableAccount(admin, accountId);
		expect((await get(id)).key.id).toBe(id);
	});

	test("an alert belongs to the node that saw it first until that falls silent, and is told until that is noted", async () => {
		const look = (owner: string, standing: readonly string[], atMs: number) =>
			runOperation(admin, "lookAtAlerts", { owner, standing, rules: ["upstream"], nowMs: atMs, staleMs: 100 });
		const one = { name: "upstream one", sinceMs: NOW };
		expect(await look("a", ["upstream one"], NOW)).toEqual({ raised: [one], ended: [], mine: 1 });
		expect(await look("b", ["upstream one"], NOW + 1)).toEqual({ raised: [], ended: [], mine: 0 });
		expect((await look("a", ["upstream one"], NOW + 2)).raised).toEqual([one]);
		await runOperation(admin, "alertDelivered", { name: "upstream one" });
		expect((await look("a", ["upstream one"], NOW + 3)).raised).toEqual([]);
		expect((await look("b", [], NOW + 4)).ended).toEqual([]);
		expect((await look("b", [], NOW + 200)).ended).toEqual([one]);
		expect((await look("a", [], NOW + 201)).ended).toEqual([]);
	});

	test("the rules of alerts see keys near their limits, accounts that run out, and what the day has cost", async () => {
		const { id: near } = await createTestKey({ limits: { usd: "1", diem: null, vcu: null }, limitPeriod: "LIFETIME" });
		const { id: far } = await createTestKey({ limits: { usd: "10", diem: null, vcu: null }, limitPeriod: "LIFETIME" });
		await spend(near, DAY, "usd", 900_000_000);
		await spend(far, DAY, "bundled", 900_000_000);
		await spend(far, DAY - 1, "usd", 5_000_000_000);
		const seen = await runRead(admin, "standings", { balanceBelow: 9_000_000_000_000_000, keyShare: 0.9, spend: true });
		expect(seen.near).toEqual([{ keyId: near, accountId, unit: "usd", share: 0.9 }]);
		expect(seen.spentToday).toBe(1_800_000_000);
		expect(seen.low.map((each) => each.accountId)).toContain(accountId);
		const nothing = await runRead(admin, "standings", { balanceBelow: null, keyShare: null, spend: false });
		expect(nothing).toEqual({ low: [], near: [], spentToday: null });
	});
}
