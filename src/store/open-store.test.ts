import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SEGMENT_HEADER_BYTES } from "../journal/segment.ts";
import { requestId, SAMPLE_DAY, SAMPLE_PRICE, sampleLine, samplePost } from "../journal/testing/sample-records.ts";
import { NANO_PER_USD, nano, pico } from "../ledger/index.ts";
import { noteChange } from "./admin/changes.ts";
import { readBacklog, setAccount } from "./admin.ts";
import { DataFolderInUseError, type OpenedStore, type OpenStoreOptions, openStore, type StoreChange } from "./index.ts";
import { testStore } from "./testing/store-contract.ts";
import { StoreFolder } from "./testing/store-folder.ts";

const HUNDRED = nano(100 * NANO_PER_USD);
const HASH = "a".repeat(64);

let books: StoreFolder;
const opened: OpenedStore[] = [];

beforeEach(() => {
	books = new StoreFolder();
});

afterEach(async () => {
	for (const { store } of opened.splice(0)) await store.close().catch(() => {});
	await books.remove();
});

async function open(options: Partial<OpenStoreOptions> = {}): Promise<OpenedStore> {
	const journal = { segmentBytes: 256 * 1024, minFreeDiskBytes: 0, ...options.journal };
	const result = await openStore({ dataDir: books.dir, ...options, journal });
	opened.push(result);
	return result;
}

/** Not `expect().rejects`: that waits inside the event loop, where the store thread's messages do not arrive. */
async function faultOf(promise: Promise<unknown>): Promise<Error> {
	return promise.then(
		() => new Error("it did not fail"),
		(error: Error) => error,
	);
}

testStore(() => new StoreFolder());

describe("leases", () => {
	test("give the one node all that is free, of every source of the day", async () => {
		const accountId = await books.account();
		await setAccount(
			books.admin(() => (SAMPLE_DAY - 1) * 86_400_000),
			accountId,
			{ stakeDiem: "2.5", bundledUsd: "7" },
		);
		const { store } = await open();
		const diem = nano(2.5 * NANO_PER_USD);
		expect((await store.budgets(accountId, SAMPLE_DAY))[0]).toEqual({
			source: "diem",
			day: SAMPLE_DAY,
			balance: diem,
			free: diem,
		});
		const first = await store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(1) });
		expect(first.grants).toEqual([
			{ source: "diem", day: SAMPLE_DAY, granted: diem },
			{ source: "bundled", day: 0, granted: nano(7 * NANO_PER_USD) },
			{ source: "usd", day: 0, granted: HUNDRED },
		]);
		expect(first.budgets.map((budget) => budget.free as number)).toEqual([0, 0, 0]);
		const again = await store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(1) });
		expect(again.grants).toEqual([]);
		// The day before the stake was effective has none; another day has its own.
		expect((await store.acquire({ accountId, day: SAMPLE_DAY - 1, needNano: nano(1) })).grants).toEqual([]);
		const next = await store.acquire({ accountId, day: SAMPLE_DAY + 1, needNano: nano(1) });
		expect(next.grants).toEqual([{ source: "diem", day: SAMPLE_DAY + 1, granted: diem }]);
		expect(await books.audit()).toMatchObject({ ok: true, findings: [] });
	});

	test("go back to what is kept, and no more can be kept than was leased", async () => {
		const accountId = await books.account();
		const { store, journal } = await open();
		await store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(1) });
		void journal.append(samplePost(requestId(1), accountId));
		const kept = nano(5_000);
		const back = await store.giveBack(accountId, [{ source: "usd", day: 0, amount: kept }]);
		const balance = nano(HUNDRED - SAMPLE_PRICE);
		expect(back.budgets).toEqual([{ source: "usd", day: 0, balance, free: nano(balance - kept) }]);
		for (const more of [
			{ source: "usd", day: 0, amount: nano(kept + 1) },
			{ source: "bundled", day: 0, amount: nano(1) },
		] as const)
			expect(await store.giveBack(accountId, [more, { source: "usd", day: 0, amount: nano(kept + 1) }])).toEqual(back);
		expect((await store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(1) })).grants).toEqual([
			{ source: "usd", day: 0, granted: nano(balance - kept) },
		]);
	});

	test("cover only what is needed for a moment after money is asked back: what the operator wants back stays free", async () => {
		const accountId = await books.account();
		await setAccount(books.admin(), accountId, { bundledUsd: "7" });
		const { store } = await open({ changesEveryMs: 5 });
		await store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(1) });
		const noticed = new Promise<StoreChange>((resolve) => store.onChange(resolve));
		const notice = { kind: "account", accountId, takesBack: true } as const;
		await books
			.admin()
			.db.transaction()
			.execute((tx) => noteChange(tx, notice, Date.now()));
		expect(await noticed).toEqual(notice);
		await store.giveBack(accountId, []);
		const seven = nano(7 * NANO_PER_USD);
		const more = await store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(seven + 5) });
		expect(more.grants).toEqual([
			{ source: "bundled", day: 0, granted: seven },
			{ source: "usd", day: 0, granted: nano(5) },
		]);
		const tooMuch = { accountId, day: SAMPLE_DAY, needNano: nano(HUNDRED) };
		expect((await store.acquire(tooMuch)).grants).toEqual([]);
		const rest = await store.acquire({ ...tooMuch, part: true });
		expect(rest.grants).toEqual([{ source: "usd", day: 0, granted: nano(HUNDRED - 5) }]);
		expect((await books.audit()).findings).toEqual([]);
	});

	test("all go back at a close, and the next boot begins a new epoch", async () => {
		const accountId = await books.account();
		const first = await open();
		await first.store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(1) });
		void first.journal.append(samplePost(requestId(1), accountId));
		await first.store.close();
		const budget = await books.admin().db.selectFrom("budgets").selectAll().executeTakeFirstOrThrow();
		expect(budget).toMatchObject({ balance: BigInt(HUNDRED - SAMPLE_PRICE), leased: 0n });
		const second = await open();
		expect(second.replayedGroups).toBe(0);
		expect(second.store.node).toEqual({ id: first.store.node.id, epoch: first.store.node.epoch + 1 });
		expect(second.journal.writtenSeq).toBe(first.journal.writtenSeq);
	});

	test("of an unknown account are empty", async () => {
		const { store } = await open();
		expect(await store.acquire({ accountId: "acc_none", day: 1, needNano: nano(1) })).toEqual({ grants: [], budgets: [] });
		expect(await store.loadAccount("acc_none")).toBeNull();
		expect(await store.loadKey(HASH, 1)).toBeNull();
	});
});

test("a command line sees the applied state, and how far the store is behind the journal", async () => {
	const accountId = await books.account();
	const { store, journal } = await open({ applyEveryMs: 60_000 });
	expect(await readBacklog(books.admin(), books.dir)).toEqual({ appliedSeq: 0, groups: 0, records: 0 });
	await store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(1) });
	await journal.append(samplePost(requestId(1), accountId));
	await Promise.all([2, 3].map((number) => journal.append(samplePost(requestId(number), accountId))));
	expect(await readBacklog(books.admin(), books.dir)).toEqual({ appliedSeq: 0, groups: 2, records: 3 });
	await store.settled();
	expect(await readBacklog(books.admin(), books.dir)).toEqual({ appliedSeq: 2, groups: 0, records: 0 });
});

describe("a start", () => {
	test("over and over without work does not let the journal grow past what is kept", async () => {
		const accountId = await books.account();
		const journal = { keepBytes: 1024 * 1024 };
		for (let boot = 0; boot < 12; boot++) {
			const { store, journal: writer } = await open({ journal });
			await store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(1) });
			await writer.append(samplePost(requestId(boot), accountId));
			await store.close();
		}
		// Retained segments, the segment written last, the spares.
		expect(readdirSync(join(books.dir, "journal")).length).toBeLessThanOrEqual(4 + 1 + 8);
		expect((await books.audit()).findings).toEqual([]);
	});

	test("is refused while another server runs on the folder, in this process or another", async () => {
		await open();
		expect(await faultOf(openStore({ dataDir: books.dir }))).toBeInstanceOf(DataFolderInUseError);
		const code = `import { openStore } from ${JSON.stringify(join(import.meta.dir, "index.ts"))};
			await openStore({ dataDir: ${JSON.stringify(books.dir)} }).then(() => process.exit(1), (error) => console.log(error.code));
			process.exit(0);`;
		const child = Bun.spawn([process.execPath, "-e", code], { stderr: "inherit" });
		expect((await new Response(child.stdout).text()).trim()).toBe("DATA_FOLDER_IN_USE");
		expect(await child.exited).toBe(0);
	});

	test("works again after a refused or closed one", async () => {
		const first = await open();
		expect(await faultOf(openStore({ dataDir: books.dir }))).toBeInstanceOf(DataFolderInUseError);
		await first.store.close();
		const second = await open();
		expect(await second.store.loadAccount("acc_none")).toBeNull();
		expect((await faultOf(first.store.loadAccount("acc_none"))).message).toContain("closed");
	});

	test("after a power cut that took the store's unsynced log books the journal's posts all the same", async () => {
		const accountId = await books.account();
		await setAccount(
			books.admin(() => (SAMPLE_DAY - 1) * 86_400_000),
			accountId,
			{ stakeDiem: "1" },
		);
		const first = await open();
		const database = join(books.dir, "turnpike.db");
		const checkpointed = readFileSync(database);
		await first.store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(1) });
		for (let number = 0; number < 5; number++) {
			const lines = [sampleLine("a", 10, pico(1_000), "diem"), sampleLine("b", 10, pico(1_000))];
			await first.journal.append(samplePost(requestId(number), accountId, { lines }));
		}
		const { epoch } = first.store.node;
		await first.store.close();
		await books.closeAdmins();
		for (const suffix of ["-wal", "-shm"]) rmSync(`${database}${suffix}`, { force: true });
		writeFileSync(database, checkpointed);
		const second = await open();
		expect(second.replayedGroups).toBe(5);
		expect(second.store.node.epoch).toBe(epoch + 1);
		const budgets = await second.store.budgets(accountId, SAMPLE_DAY);
		expect(budgets.map((budget) => budget.balance as number)).toEqual([NANO_PER_USD - 50, HUNDRED - 50]);
		expect((await books.audit()).findings).toEqual([]);
	});

	test("on a damaged journal says where, books nothing of it, and leaves the folder free", async () => {
		const accountId = await books.account();
		const { store, journal } = await open({ applyEveryMs: 60_000 });
		await store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(1) });
		for (let number = 0; number < 3; number++) await journal.append(samplePost(requestId(number), accountId));
		// What a kill leaves: the store as it is now, and a journal with one bad byte in its first group.
		const [file = ""] = readdirSync(join(books.dir, "journal"))
			.sort()
			.map((name) => join(books.dir, "journal", name));
		const copy = readFileSync(file);
		const database = readFileSync(join(books.dir, "turnpike.db"));
		const log = readFileSync(join(books.dir, "turnpike.db-wal"));
		await store.close();
		copy[SEGMENT_HEADER_BYTES + 100] = (copy[SEGMENT_HEADER_BYTES + 100] ?? 0) ^ 1;
		writeFileSync(file, copy);
		writeFileSync(join(books.dir, "turnpike.db"), database);
		writeFileSync(join(books.dir, "turnpike.db-wal"), log);
		expect(await faultOf(open())).toMatchObject({ code: "JOURNAL_CORRUPT" });
		expect((await faultOf(open())).message).toContain("does not hold group 1, yet group 2 follows");
		expect((await books.admin().db.selectFrom("posts").selectAll().execute()).length).toBe(0);
	});
});
