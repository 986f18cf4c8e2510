/** What the erasure of an account removes and keeps, on any store. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { ERASED_NAME } from "../admin/account-fields.ts";
import { eraseAccount } from "../admin/erase-account.ts";
import { enableAccount } from "../admin/set-account.ts";
import {
	AdminError,
	type AdminStore,
	createAccount,
	createKey,
	credit,
	findKeyByHash,
	setAccount,
	showAccount,
} from "../admin.ts";
import type { StoreFolder } from "./store-folder.ts";

const WALLET = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const NAME = "Ada Lovelace of 12 Example Street";
const ADDRESS = "203.0.113.77";

/** Defines the tests; each gets its own books. */
export function testErasure(createStore: () => StoreFolder | Promise<StoreFolder>): void {
	let books: StoreFolder;
	let admin: AdminStore;
	let accountId: string;
	let keyId: string;

	beforeEach(async () => {
		books = await createStore();
		admin = books.admin();
		await createAccount(admin, { name: "Operator" });
		accountId = (await createAccount(admin, { name: NAME, startingCreditUsd: "7" })).id;
		await setAccount(admin, accountId, { wallet: WALLET });
		const restrictions = { models: null, endpoints: null, networks: null, addresses: [ADDRESS] };
		const key = {
			accountId,
			type: "ADMIN",
			hash: "e".repeat(64),
			last6: "abcdef",
			description: `${NAME}'s key`,
			restrictions,
		} as const;
		keyId = (await createKey(admin, key)).id;
		await credit(admin, { accountId, amount: "3", reference: "pay-1" });
		await admin.db
			.insertInto("exceeded_limits")
			.values({ account_id: accountId, key_id: keyId, model_id: "m", tier: "paid", kind: "RPM", exceeded_at: 1 })
			.execute();
		await admin.db
			.insertInto("idempotency_answers")
			.values({
				account_id: accountId,
				key: "k",
				fingerprint: "f",
				known: 1,
				status: 200,
				note: "",
				bytes: NAME.length,
				crc32: 0,
				body: Buffer.from(NAME),
				file: null,
				expires_at: Date.now() + 86_400_000,
			})
			.execute();
	});

	afterEach(() => books.remove());

	describe("the erasure of an account", () => {
		test("leaves no name, wallet, address or answer in any table; the books stay and balance", async () => {
			expect(await eraseAccount(admin, accountId)).toEqual({ accountId, endedKeys: 1 });
			const tables = ["accounts", "keys", "exceeded_limits", "idempotency_answers", "changes", "movements", "credits"] as const;
			for (const table of tables) {
				const text = JSON.stringify(await admin.db.selectFrom(table).selectAll().execute(), (_, value) =>
					typeof value === "bigint" ? String(value) : value,
				);
				// Nodes learn which wallet is unlinked; notices are deleted after 30 days.
				const wallets = table === "changes" ? [] : [WALLET, WALLET.toLowerCase()];
				for (const part of [NAME, "Lovelace", ADDRESS, ...wallets]) expect([table, text.includes(part)]).toEqual([table, false]);
			}
			expect(await admin.db.selectFrom("idempotency_answers").selectAll().execute()).toEqual([]);
			expect(await admin.db.selectFrom("exceeded_limits").selectAll().execute()).toEqual([]);
			const view = await showAccount(admin, accountId);
			expect(view).toMatchObject({ id: accountId, name: ERASED_NAME, wallet: null, disabled: true });
			expect(Number(view.balances.usd)).toBe(10_000_000_000);
			expect((await credit(admin, { accountId, amount: "3", reference: "pay-1" })).replayed).toBe(true);
			expect((await books.audit()).findings).toEqual([]);
		});

		test("ends its keys, and tells the nodes of each", async () => {
			const seen = await admin.db
				.selectFrom("changes")
				.select((select) => select.fn.max("id").as("last"))
				.executeTakeFirstOrThrow();
			await eraseAccount(admin, accountId);
			expect(await findKeyByHash(admin, "e".repeat(64))).toBeNull();
			const told = await admin.db
				.selectFrom("changes")
				.select(["kind", "key_id"])
				.where("id", ">", seen.last ?? 0n)
				.orderBy("id")
				.execute();
			expect(told).toContainEqual({ kind: "key", key_id: keyId });
			expect(told.at(-1)).toEqual({ kind: "account", key_id: null });
		});

		test("may be repeated; the wallet is free for another account", async () => {
			await eraseAccount(admin, accountId);
			expect(await eraseAccount(admin, accountId)).toEqual({ accountId, endedKeys: 0 });
			const other = await createAccount(admin, { name: "other" });
			expect((await setAccount(admin, other.id, { wallet: WALLET })).wallet).toBe(WALLET.toLowerCase());
		});

		test("is for good: the account is not enabled, named or linked again, and no other is called erased", async () => {
			await eraseAccount(admin, accountId);
			const codeOf = (work: Promise<unknown>) =>
				work.then(String, (error: unknown) => (error instanceof AdminError ? error.code : error));
			expect(await codeOf(enableAccount(admin, accountId))).toBe("CONFLICT");
			expect(await codeOf(setAccount(admin, accountId, { name: NAME }))).toBe("CONFLICT");
			expect(await codeOf(setAccount(admin, accountId, { wallet: WALLET }))).toBe("CONFLICT");
			expect((await setAccount(admin, accountId, { disabled: true, wallet: null })).disabled).toBe(true);
			expect(await codeOf(createAccount(admin, { name: ERASED_NAME }))).toBe("INVALID");
		});

		test("leaves the block of a wallet that was disabled, and forgets one that was not", async () => {
			const identity = (of: string) => `eip155:8453:0x${of.repeat(40)}`;
			const [blocked, free] = [await createAccount(admin, { name: "b" }), await createAccount(admin, { name: "f" })];
			for (const [id, of] of [
				[blocked.id, "b"],
				[free.id, "f"],
			] as const)
				await admin.db
					.updateTable("accounts")
					.set({ identity: identity(of) })
					.where("id", "=", id)
					.execute();
			await setAccount(admin, blocked.id, { disabled: true });
			for (const id of [blocked.id, free.id, blocked.id, free.id]) await eraseAccount(admin, id);
			const rows = await admin.db
				.selectFrom("accounts")
				.select(["id", "identity", "disabled"])
				.where("identity", "is not", null)
				.execute();
			expect(rows).toEqual([{ id: blocked.id, identity: identity("b"), disabled: 1n }]);
		});

		test("is refused for the operator's account and for one that is not there", async () => {
			const operator = await admin.db.selectFrom("accounts").select("id").where("operator", "=", 1n).executeTakeFirstOrThrow();
			for (const [id, code] of [
				[operator.id, "INVALID"],
				["acc_none", "NOT_FOUND"],
			] as const) {
				const fault = await eraseAccount(admin, id).catch((error: unknown) => error);
				expect(fault instanceof AdminError ? fault.code : fault).toBe(code);
			}
		});
	});
}
