import { afterEach, beforeEach, expect, test } from "bun:test";
import { type OpenedStore, openStore } from "../store/index.ts";
import type { AdminAnswer, AdminInput, AdminOperation, StorePort } from "../store/port.ts";
import { StoreFolder } from "../store/testing/store-folder.ts";
import { ExceededLimits } from "./exceeded-limits.ts";

type Entry = Parameters<ExceededLimits["note"]>[0];

let books: StoreFolder;
let opened: OpenedStore;
const entry = (accountId: string, atMs: number): Entry => ({
	accountId,
	keyId: "k",
	modelId: "m",
	tier: "paid",
	kind: "RPM",
	atMs,
});

beforeEach(async () => {
	books = new StoreFolder();
	opened = await openStore({ dataDir: books.dir, journal: { segmentBytes: 256 * 1024, minFreeDiskBytes: 0 } });
});

afterEach(async () => {
	await opened.store.close();
	await books.remove();
});

/** The real store with a count of its calls by name, and a switch to fail them. */
class Watched implements Pick<StorePort, "admin"> {
	readonly written: (readonly Entry[])[] = [];
	failing = false;

	admin<Name extends AdminOperation>(name: Name, input: AdminInput<Name>): Promise<AdminAnswer<Name>> {
		if (name === "noteExceededLimits") this.written.push(input as readonly Entry[]);
		return this.failing ? Promise.reject(new Error("no disk")) : opened.store.admin(name, input);
	}
}

test("many refusals are one write, and a reading holds them all", async () => {
	const id = await books.account();
	const store = new Watched();
	const log = new ExceededLimits(store);
	for (let count = 0; count < 30; count++) log.note(entry(id, count));
	const read = await log.latest(id);
	expect(read.map(({ atMs }) => atMs)).toEqual(Array.from({ length: 30 }, (_, index) => 29 - index));
	expect(store.written.map((batch) => batch.length)).toEqual([30]);
	expect(await log.latest(id)).toEqual(read);
	expect(store.written).toHaveLength(1);
});

test("of one account the last fifty wait, of all accounts the last thousand", async () => {
	const store = new Watched();
	const log = new ExceededLimits(store);
	const ids = [await books.account(), await books.account()];
	for (let count = 0; count < 5_000; count++) log.note(entry(ids[0] ?? "", count));
	log.note(entry(ids[1] ?? "", 1));
	await log.close();
	expect(store.written[0]?.map(({ atMs }) => atMs)).toEqual([...Array.from({ length: 50 }, (_, index) => 4_950 + index), 1]);
	store.failing = true;
	for (let count = 0; count < 3_000; count++) log.note(entry(`acc_${count}`, count));
	await log.close();
	expect(store.written[1]?.map(({ atMs }) => atMs)).toEqual(Array.from({ length: 1_000 }, (_, index) => 2_000 + index));
});

test("a store that fails loses entries and nothing else", async () => {
	const id = await books.account();
	const store = new Watched();
	const log = new ExceededLimits(store);
	store.failing = true;
	log.note(entry(id, 1));
	expect(await log.latest(id).catch((error: Error) => error.message)).toBe("no disk");
	store.failing = false;
	log.note(entry(id, 2));
	expect((await log.latest(id)).map(({ atMs }) => atMs)).toEqual([2]);
});

test("what is noted is written without a reading, before the close", async () => {
	const id = await books.account();
	const store = new Watched();
	const log = new ExceededLimits(store);
	log.note(entry(id, 7));
	await log.close();
	expect((await opened.store.admin("listExceededLimits", { accountId: id })).map(({ atMs }) => atMs)).toEqual([7]);
});
