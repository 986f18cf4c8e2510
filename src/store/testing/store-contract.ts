/** The guarantees of an open store, on SQLite and on PostgreSQL. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { until } from "../../../test/support/until.ts";
import {
	requestId,
	SAMPLE_DAY,
	SAMPLE_PRICE,
	sampleLine,
	samplePost,
	sampleTouch,
} from "../../journal/testing/sample-records.ts";
import { findRequest, NANO_PER_USD, nano, pico } from "../../ledger/index.ts";
import { createAccount, createKey, credit, requestReload, revokeKey, setAccount } from "../admin.ts";
import { type OpenedStore, type OpenStoreOptions, openStore, type StoreChange } from "../index.ts";
import type { StorePort } from "../port.ts";
import type { KeyLoad } from "../types.ts";
import type { StoreFolder } from "./store-folder.ts";

const ADMIN_PROCESS = join(import.meta.dir, "admin-process.ts");
const HUNDRED = nano(100 * NANO_PER_USD);
const HASH = "a".repeat(64);

/** Loads the sample key; null where it is unknown or revoked. */
async function loadKey(store: StorePort, day: number): Promise<KeyLoad | null> {
	const load = await store.loadKey(HASH, day);
	return load === "revoked" ? null : load;
}

/** Defines the tests; each gets its own books. */
export function testStore(createStore: () => StoreFolder | Promise<StoreFolder>): void {
	let books: StoreFolder;
	const opened: OpenedStore[] = [];

	beforeEach(async () => {
		books = await createStore();
	});

	afterEach(async () => {
		for (const { store } of opened.splice(0)) await store.close().catch(() => {});
		await books.remove();
	});

	async function open(options: Partial<OpenStoreOptions> = {}): Promise<OpenedStore> {
		const journal = { segmentBytes: 256 * 1024, minFreeDiskBytes: 0, ...options.journal };
		const result = await openStore({ dataDir: books.dir, postgres: books.postgres, ...options, journal });
		opened.push(result);
		return result;
	}

	async function adminProcess(command: string, input: unknown): Promise<unknown> {
		const child = Bun.spawn([process.execPath, ADMIN_PROCESS, books.place, command, JSON.stringify(input)], {
			stderr: "inherit",
		});
		const text = await new Response(child.stdout).text();
		expect(await child.exited).toBe(0);
		return JSON.parse(text);
	}

	describe("an answer of the store", () => {
		test("holds exactly the posts that were written before the call, those of the same turn too", async () => {
			const accountId = await books.account();
			const { store, journal } = await open();
			await store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(1) });
			const balances: number[] = [];
			const answers: Promise<unknown>[] = [];
			for (let turn = 0; turn < 30; turn++) {
				for (let call = 0; call < 3; call++) {
					answers.push(journal.append(samplePost(requestId(turn * 3 + call), accountId)));
					const at = turn * 3 + call;
					const answered = store.budgets(accountId, SAMPLE_DAY).then(([usd]) => {
						balances[at] = usd?.balance ?? -1;
					});
					answers.push(answered);
				}
				if (turn % 4 === 0) await new Promise((resolve) => setImmediate(resolve));
			}
			await Promise.all(answers);
			expect(balances).toEqual(Array.from({ length: 90 }, (_, index) => HUNDRED - (index + 1) * SAMPLE_PRICE));
			expect(journal.appliedSeq).toBe(journal.writtenSeq);
		});

		test("comes without a call's help within the apply interval", async () => {
			const accountId = await books.account();
			const { store, journal } = await open({ applyEveryMs: 20 });
			await store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(1) });
			await journal.append(samplePost(requestId(1), accountId));
			await until(() => journal.appliedSeq === journal.writtenSeq);
			expect(journal.backlogBytes).toBe(0);
			expect((await findRequest(books.admin().db, requestId(1)))?.price).toBe(SAMPLE_PRICE);
		});

		test("of durability store is there when the append resolves", async () => {
			const accountId = await books.account();
			const { store, journal } = await open({ journal: { durability: "store" }, applyEveryMs: 60_000 });
			await store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(1) });
			for (let number = 0; number < 20; number++) {
				await journal.append(samplePost(requestId(number), accountId));
				expect(await findRequest(books.admin().db, requestId(number))).not.toBeNull();
			}
		});
	});

	describe("a key", () => {
		test("is loaded with its account, its use, and what it spent in the window of its limit", async () => {
			const accountId = await books.account();
			await setAccount(
				books.admin(() => (SAMPLE_DAY - 1) * 86_400_000),
				accountId,
				{ stakeDiem: "1", bundledUsd: "1" },
			);
			const key = await createKey(books.admin(), {
				accountId,
				type: "INFERENCE",
				hash: HASH,
				last6: "abcdef",
				limits: { usd: "20.50", diem: "0" },
				limitPeriod: "MONTH",
				restrictions: { models: ["llama"], endpoints: null, networks: null, addresses: ["10.0.0.0/8"] },
			});
			const { store, journal } = await open();
			// 2024-10-04 is day 20,000: the month has the days 19,997 to 20,027.
			for (const day of [19_996, 19_997, 20_027, 20_028]) await store.acquire({ accountId, day, needNano: nano(1) });
			for (const [number, day] of [19_996, 19_997, 20_027, 20_028].entries()) {
				const from = [
					{ source: "bundled" as const, amount: nano(3) },
					{ source: "usd" as const, amount: nano(2) },
					{ source: "usd" as const, amount: nano(1) },
				];
				const lines = [{ sku: "a", units: 6, picoPrice: pico(1_000), from, overrun: nano(4) }];
				void journal.append(samplePost(requestId(number), accountId, { keyId: key.id, day, lines }));
			}
			void journal.append(
				samplePost(requestId(9), accountId, { keyId: key.id, day: 20_027, lines: [sampleLine("b", 7, pico(1_000), "diem")] }),
			);
			void journal.append(sampleTouch(key.id, 5_000));
			void journal.append(sampleTouch(key.id, 4_000));
			const load = await loadKey(store, SAMPLE_DAY);
			expect(load?.key).toEqual({ ...key, lastUsedAtMs: 5_000 });
			expect(load?.account.id).toBe(accountId);
			expect(load?.spent).toEqual({ usd: nano(12), diem: nano(7) });
			expect((await loadKey(store, 20_028))?.spent).toEqual({ usd: nano(6), diem: nano(0) });
			expect(await books.audit()).toMatchObject({ ok: true, findings: [] });
		});

		test("is reported as revoked once it is", async () => {
			const accountId = await books.account();
			const key = await createKey(books.admin(), { accountId, type: "ADMIN", hash: HASH, last6: "abcdef" });
			const { store } = await open();
			expect((await loadKey(store, 1))?.key.id).toBe(key.id);
			await revokeKey(books.admin(), key.id);
			expect(await store.loadKey(HASH, 1)).toBe("revoked");
		});
	});

	describe("what another process changes", () => {
		test("is heard within a second, in order, and new money can be acquired", async () => {
			const accountId = await books.account();
			const { store } = await open();
			await store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(1) });
			const heard: StoreChange[] = [];
			const stop = store.onChange((change) => heard.push(change));
			const credited = await adminProcess("credit", { accountId, amount: "5", reference: "r1" });
			expect(credited).toMatchObject({ replayed: false, balance: 105 * NANO_PER_USD });
			await until(() => heard.length === 1);
			expect(heard).toEqual([{ kind: "account", accountId }]);
			const { grants } = await store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(5 * NANO_PER_USD) });
			expect(grants[0]?.granted).toBeGreaterThanOrEqual(5 * NANO_PER_USD);
			await adminProcess("reload", {});
			await until(() => heard.length === 2);
			expect(heard[1]).toEqual({ kind: "reload" });
			stop();
			await requestReload(books.admin());
			await adminProcess("credit", { accountId, amount: "5", reference: "r1" });
			expect(heard.length).toBe(2);
		});

		test("goes on while posts are applied", async () => {
			const accountId = await books.account();
			const { store, journal } = await open({ applyEveryMs: 5 });
			await store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(1) });
			let running = true;
			let posted = 0;
			const posting = (async () => {
				while (running) {
					await Promise.all(Array.from({ length: 20 }, () => journal.append(samplePost(requestId(posted++), accountId))));
					await Bun.sleep(1);
				}
			})();
			const admin = books.admin();
			for (let number = 0; number < 50; number++) await credit(admin, { accountId, amount: "0.01", reference: `r${number}` });
			const other = await createAccount(admin, { name: "other" });
			expect((await books.audit()).findings).toEqual([]);
			running = false;
			await posting;
			const [usd] = await store.budgets(accountId, SAMPLE_DAY);
			expect(usd?.balance).toBe(nano(HUNDRED + 0.5 * NANO_PER_USD - posted * SAMPLE_PRICE));
			expect((await store.loadAccount(other.id))?.operator).toBe(false);
		});
	});
}
