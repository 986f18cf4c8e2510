/** The guarantees of the operator's functions on every store. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { NANO_PER_USD, nano } from "../../ledger/index.ts";
import {
	AdminError,
	type AdminStore,
	createAccount,
	createKey,
	credit,
	disableAccount,
	enableAccount,
	findKeyByHash,
	isEmpty,
	listAccounts,
	listKeys,
	requestReload,
	revokeKey,
	setAccount,
	showAccount,
} from "../admin.ts";
import type { StoreFolder } from "./store-folder.ts";

const DAY_MS = 86_400_000;
const HASH = "c".repeat(64);
/** With the checksum of ERC-55. */
const WALLET = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

/** Returns the code of the operator's error of a call that must fail. */
async function faultCode(promise: Promise<unknown>): Promise<string> {
	try {
		await promise;
		return "none";
	} catch (error) {
		return error instanceof AdminError ? error.code : String(error);
	}
}

/** Defines the tests; each gets its own books. */
export function testAdmin(createStore: () => StoreFolder | Promise<StoreFolder>): void {
	let books: StoreFolder;
	let admin: AdminStore;
	let nowMs = 20_000 * DAY_MS + 5_000;

	beforeEach(async () => {
		nowMs = 20_000 * DAY_MS + 5_000;
		books = await createStore();
		admin = books.admin(() => nowMs);
	});

	afterEach(() => books.remove());

	const changes = () => admin.db.selectFrom("changes").select(["kind", "account_id", "key_id"]).orderBy("id").execute();

	describe("accounts", () => {
		test("the first one is the operator's, with its starting credit; later ones are not", async () => {
			expect(await isEmpty(admin)).toBe(true);
			const first = await createAccount(admin, { name: "  Operator ", startingCreditUsd: "10" });
			expect(first).toMatchObject({ name: "Operator", tier: "paid", operator: true, disabled: false, wallet: null });
			expect(first.id).toMatch(/^acc_[0-9A-Za-z]{24}$/);
			expect(await isEmpty(admin)).toBe(false);
			const second = await createAccount(admin, { name: "b", tier: "partner", startingCreditUsd: "0.0" });
			expect(second.operator).toBe(false);
			expect((await Array.fromAsync(listAccounts(admin))).flat().map((view) => view.balances.usd)).toContain(
				nano(10 * NANO_PER_USD),
			);
			expect((await showAccount(admin, second.id)).balances).toEqual({ usd: nano(0), bundled: nano(0), diem: nano(0) });
			expect((await books.audit()).findings).toEqual([]);
		});

		test("two that are made at once have one operator", async () => {
			const other = books.admin();
			const made = await Promise.all([admin, other, admin].map((store, index) => createAccount(store, { name: `n${index}` })));
			expect(made.filter((account) => account.operator).length).toBe(1);
		});

		test("are disabled and enabled, and unknown ones are named", async () => {
			const { id } = await createAccount(admin, { name: "a" });
			expect((await disableAccount(admin, id)).disabled).toBe(true);
			expect((await enableAccount(admin, id)).disabled).toBe(false);
			expect((await changes()).length).toBe(3);
			for (const call of [showAccount, disableAccount, enableAccount]) {
				expect(await faultCode(call(admin, "acc_x"))).toBe("NOT_FOUND");
			}
			expect(await faultCode(createAccount(admin, { name: " " }))).toBe("INVALID");
			expect(await faultCode(createAccount(admin, { name: "😀".repeat(201) }))).toBe("INVALID");
			expect((await createAccount(admin, { name: "😀".repeat(200) })).name).toBe("😀".repeat(200));
			expect(await faultCode(createAccount(admin, { name: "a", startingCreditUsd: "-1" }))).toBe("INVALID");
		});

		test("a stake counts from the next UTC day on, also where it is set twice", async () => {
			const { id } = await createAccount(admin, { name: "a" });
			await setAccount(admin, id, { stakeDiem: "2" });
			const view = await setAccount(admin, id, { stakeDiem: "2.5" });
			expect(view.stake).toEqual({ source: "operator", today: nano(0), next: nano(2.5 * NANO_PER_USD) });
			expect(view.balances.diem).toBe(nano(0));
			nowMs += DAY_MS;
			expect((await showAccount(admin, id)).balances.diem).toBe(nano(2.5 * NANO_PER_USD));
			const cut = await setAccount(admin, id, { stakeDiem: "0.05" });
			expect(cut.stake).toEqual({ source: "operator", today: nano(2.5 * NANO_PER_USD), next: nano(0.05 * NANO_PER_USD) });
			nowMs += DAY_MS;
			expect((await showAccount(admin, id)).balances.diem).toBe(nano(0));
		});

		test("bundled credit becomes what is asked, by movements of the difference", async () => {
			const { id } = await createAccount(admin, { name: "a" });
			for (const bundledUsd of ["5", "5", "7.25", "1", "0"]) {
				const view = await setAccount(admin, id, { bundledUsd });
				expect(view.balances.bundled).toBe(nano(Number(bundledUsd) * NANO_PER_USD));
			}
			const rows = await admin.db.selectFrom("movements").select(["debit", "amount", "balance_after"]).orderBy("id").execute();
			expect(rows.map((row) => [row.debit === "issued", Number(row.amount) / 1e9, Number(row.balance_after) / 1e9])).toEqual([
				[true, 5, 5],
				[true, 2.25, 7.25],
				[false, 6.25, 1],
				[false, 1, 0],
			]);
			expect((await books.audit()).findings).toEqual([]);
		});

		test("a wallet belongs to one account, in lower case", async () => {
			const a = await createAccount(admin, { name: "a" });
			const b = await createAccount(admin, { name: "b" });
			expect((await setAccount(admin, a.id, { wallet: WALLET })).wallet).toBe(WALLET.toLowerCase());
			expect((await setAccount(admin, a.id, { wallet: WALLET })).wallet).toBe(WALLET.toLowerCase());
			expect(await faultCode(setAccount(admin, b.id, { wallet: WALLET }))).toBe("CONFLICT");
			expect(await faultCode(setAccount(admin, b.id, { wallet: "0x12" }))).toBe("INVALID");
			expect(await faultCode(setAccount(admin, b.id, { wallet: WALLET.replace("aA", "Aa") }))).toBe("INVALID");
			expect((await setAccount(admin, a.id, { wallet: null })).wallet).toBeNull();
			expect((await setAccount(admin, b.id, { wallet: WALLET })).wallet).toBe(WALLET.toLowerCase());
		});

		test("a change of several things is made whole or not at all", async () => {
			const { id } = await createAccount(admin, { name: "a" });
			const before = (await changes()).length;
			expect(await faultCode(setAccount(admin, id, { tier: "staff", wallet: "nonsense" }))).toBe("INVALID");
			expect((await showAccount(admin, id)).tier).toBe("paid");
			expect((await changes()).length).toBe(before);
		});
	});

	describe("credit", () => {
		test("is added once for each reference, by whom ever it is repeated", async () => {
			const { id } = await createAccount(admin, { name: "a" });
			const first = await credit(admin, { accountId: id, amount: "12.5", reference: "pay-1" });
			expect(first).toEqual({
				accountId: id,
				reference: "pay-1",
				amount: nano(12.5 * NANO_PER_USD),
				balance: nano(12.5 * NANO_PER_USD),
				balanceAfter: nano(12.5 * NANO_PER_USD),
				bookedAtMs: nowMs,
				replayed: false,
			});
			const others = [admin, books.admin(), books.admin(), admin];
			const repeats = await Promise.all(
				others.map((store) => credit(store, { accountId: id, amount: "12.50", reference: "pay-1" })),
			);
			expect(repeats).toEqual(others.map(() => ({ ...first, replayed: true })));
			expect((await showAccount(admin, id)).balances.usd).toBe(nano(12.5 * NANO_PER_USD));
			expect((await books.audit()).findings).toEqual([]);
		});

		test("under a used reference for something else is refused", async () => {
			const { id } = await createAccount(admin, { name: "a" });
			const other = await createAccount(admin, { name: "b" });
			await credit(admin, { accountId: id, amount: "1", reference: "pay-1" });
			expect(await faultCode(credit(admin, { accountId: id, amount: "2", reference: "pay-1" }))).toBe("REFERENCE_USED");
			expect(await faultCode(credit(admin, { accountId: other.id, amount: "1", reference: "pay-1" }))).toBe("REFERENCE_USED");
		});

		test("without a reference is added each time", async () => {
			const { id } = await createAccount(admin, { name: "a" });
			await credit(admin, { accountId: id, amount: "1" });
			expect((await credit(admin, { accountId: id, amount: "1" })).balance).toBe(nano(2 * NANO_PER_USD));
		});

		test.each([
			"",
			"0",
			"0.0",
			"-1",
			"+1",
			"1e3",
			"1,5",
			".5",
			"1.",
			"1.0000000001",
			"1000000.000000001",
			"NaN",
			"9".repeat(30),
			" 1",
			"١",
		])("of %p is no amount", async (amount) => {
			const { id } = await createAccount(admin, { name: "a" });
			expect(await faultCode(credit(admin, { accountId: id, amount, reference: "r" }))).toBe("INVALID");
			expect((await showAccount(admin, id)).balances.usd).toBe(nano(0));
		});

		test("stops at the largest balance", async () => {
			const { id } = await createAccount(admin, { name: "a" });
			for (let number = 0; number < 4; number++) await credit(admin, { accountId: id, amount: "1000000" });
			expect(await faultCode(credit(admin, { accountId: id, amount: "0.000000001" }))).toBe("INVALID");
			expect(await faultCode(credit(admin, { accountId: "acc_x", amount: "1" }))).toBe("NOT_FOUND");
		});

		test("keeps its booking order where the clock goes back", async () => {
			const { id } = await createAccount(admin, { name: "a" });
			await credit(admin, { accountId: id, amount: "1" });
			nowMs -= DAY_MS;
			await credit(admin, { accountId: id, amount: "1" });
			const rows = await admin.db.selectFrom("movements").select(["booked_at", "occurred_at"]).orderBy("id").execute();
			expect(rows.map((row) => Number(row.booked_at))).toEqual([nowMs + DAY_MS, nowMs + DAY_MS]);
			expect(rows.map((row) => Number(row.occurred_at))).toEqual([nowMs + DAY_MS, nowMs]);
		});
	});

	describe("keys", () => {
		test("are made, found, listed newest first and revoked", async () => {
			const { id: accountId } = await createAccount(admin, { name: "a" });
			const first = await createKey(admin, { accountId, type: "ADMIN", hash: HASH, last6: "abcdef" });
			expect(first).toEqual({
				id: first.id,
				accountId,
				type: "ADMIN",
				last6: "abcdef",
				description: "",
				limits: { usd: null, diem: null, vcu: null },
				limitPeriod: "EPOCH",
				restrictions: null,
				createdAtMs: nowMs,
				expiresAtMs: null,
				lastUsedAtMs: null,
			});
			nowMs += 1;
			const second = await createKey(admin, {
				accountId,
				type: "INFERENCE",
				hash: "d".repeat(64),
				last6: "ghijkl",
				description: "ci",
				limits: { usd: "9999999999", diem: "0", vcu: "1.000000001" },
				limitPeriod: "LIFETIME",
				restrictions: { models: [], endpoints: ["/chat"], networks: null, addresses: null },
				expiresAtMs: nowMs + 1,
			});
			expect(second.limits).toEqual({ usd: "9999999999", diem: "0", vcu: "1.000000001" });
			expect((await Array.fromAsync(listKeys(admin, accountId))).flat().map((key) => key.id)).toEqual([second.id, first.id]);
			expect(await Array.fromAsync(listKeys(admin, "acc_x"))).toEqual([]);
			expect(await findKeyByHash(admin, HASH)).toEqual(first);
			await revokeKey(admin, first.id);
			const noticed = (await changes()).length;
			await revokeKey(admin, first.id);
			expect((await changes()).length).toBe(noticed);
			expect(await findKeyByHash(admin, HASH)).toBeNull();
			expect((await Array.fromAsync(listKeys(admin))).flat().map((key) => key.id)).toEqual([second.id]);
			await requestReload(admin);
			expect((await changes()).map((change) => change.kind)).toEqual(["account", "key", "key", "key", "reload"]);
		});

		test("with bad parts are refused", async () => {
			const { id: accountId } = await createAccount(admin, { name: "a" });
			const good = { accountId, type: "ADMIN" as const, hash: HASH, last6: "abcdef" };
			const bad = [
				{ hash: "C".repeat(64) },
				{ hash: "" },
				{ last6: "abc" },
				{ type: "ROOT" as never },
				{ limitPeriod: "DAY" as never },
				{ limits: { usd: "-1" } },
				{ limits: { diem: "1e3" } },
				{ limits: { usd: "9999999999.1" } },
				{ description: "d".repeat(257) },
				{ expiresAtMs: 1.5 },
			];
			for (const part of bad) expect(await faultCode(createKey(admin, { ...good, ...part }))).toBe("INVALID");
			expect(await faultCode(createKey(admin, { ...good, accountId: "acc_x" }))).toBe("NOT_FOUND");
			expect(await faultCode(revokeKey(admin, "none"))).toBe("NOT_FOUND");
			await createKey(admin, good);
			expect(await faultCode(createKey(admin, good))).toBe("CONFLICT");
		});
	});
}
