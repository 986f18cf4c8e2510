/** Operations through `StorePort.admin`: their place in the order of calls, their notices, and their failures. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { requestId, SAMPLE_DAY, SAMPLE_PRICE, samplePost } from "../journal/testing/sample-records.ts";
import { nano } from "../ledger/index.ts";
import { AdminError } from "./admin.ts";
import { type OpenedStore, openStore, type StoreChange, StoreUnavailableError } from "./index.ts";
import { openDatabase } from "./sqlite/open-database.ts";
import { StoreFolder } from "./testing/store-folder.ts";

const DAY_MS = 86_400_000;
const NOW = SAMPLE_DAY * DAY_MS;
let books: StoreFolder;
let accountId: string;
let opened: OpenedStore;
let made = 0;

beforeEach(async () => {
	books = new StoreFolder();
	accountId = await books.account();
	const journal = { segmentBytes: 256 * 1024, minFreeDiskBytes: 0 };
	// No poll runs, so a notice can only come from the call itself.
	opened = await openStore({ dataDir: books.dir, journal, changesEveryMs: 3_600_000, applyEveryMs: 3_600_000 });
});

afterEach(async () => {
	await opened.store.close().catch(() => {});
	await books.remove();
});

function createKey() {
	const hash = (++made).toString(16).padStart(64, "0");
	return opened.store.admin("createKey", { accountId, type: "ADMIN", hash, last6: "abcdef", maxActiveKeys: 500, nowMs: NOW });
}

/** Not `expect().rejects`: that waits inside the event loop, where the store thread's messages do not arrive. */
function faultOf(promise: Promise<unknown>): Promise<unknown> {
	return promise.then(
		() => "it did not fail",
		(error: unknown) => error,
	);
}

test("an answer holds the posts that were written before the call and no later one", async () => {
	const { store, journal } = opened;
	const { id: keyId } = await createKey();
	await store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(1) });
	const seen: Promise<bigint>[] = [];
	for (let post = 0; post < 20; post++) {
		void journal.append({ ...samplePost(requestId(post), accountId), keyId });
		const answer = store.admin("getKey", { accountId, keyId, nowMs: NOW });
		seen.push(answer.then(({ trailingSevenDays }) => trailingSevenDays.usd));
		if (post % 3 === 0) await new Promise((resolve) => setImmediate(resolve));
	}
	expect(await Promise.all(seen)).toEqual(Array.from({ length: 20 }, (_, post) => BigInt((post + 1) * SAMPLE_PRICE)));
});

test("what a call changed is heard before its answer comes, once and in order", async () => {
	const heard: StoreChange[] = [];
	opened.store.onChange((change) => heard.push(change));
	const { id: keyId } = await createKey();
	expect(heard.map(({ kind }) => kind)).toEqual(["key"]);
	await opened.store.admin("updateKey", { accountId, keyId, changes: { description: "x" } });
	expect(heard).toHaveLength(2);
	await opened.store.admin("getKey", { accountId, keyId, nowMs: NOW });
	await opened.store.admin("revokeKey", { accountId, keyId });
	expect(heard).toHaveLength(3);
	expect(new Set(heard.map((change) => (change.kind === "key" ? change.keyId : change.kind)))).toEqual(new Set([keyId]));
	await opened.store.settled();
	expect(heard).toHaveLength(3);
});

test("a refusal comes back as what it is, and nothing was changed", async () => {
	const fault = await faultOf(opened.store.admin("revokeKey", { accountId, keyId: "none" }));
	expect(fault).toBeInstanceOf(AdminError);
	expect(fault).toMatchObject({ code: "NOT_FOUND", message: "there is no such key" });
	const { id: keyId } = await createKey();
	const changes = { description: "new", limits: { usd: "-1" } };
	expect(await faultOf(opened.store.admin("updateKey", { accountId, keyId, changes }))).toMatchObject({ code: "INVALID" });
	expect((await opened.store.admin("getKey", { accountId, keyId, nowMs: NOW })).key.description).toBe("");
});

test("a change waits for another process that writes, a read does not, and posts are booked after", async () => {
	const { id: keyId } = await createKey();
	await opened.store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(1) });
	const other = openDatabase(books.dir);
	other.run("BEGIN IMMEDIATE");
	expect((await opened.store.admin("getKey", { accountId, keyId, nowMs: NOW })).key.id).toBe(keyId);
	let done = false;
	const change = opened.store.admin("updateKey", { accountId, keyId, changes: { description: "later" } }).then((key) => {
		done = true;
		return key.description;
	});
	void opened.journal.append({ ...samplePost(requestId(1), accountId), keyId });
	const after = opened.store.admin("getKey", { accountId, keyId, nowMs: NOW });
	await Bun.sleep(30);
	expect(done).toBe(false);
	other.run("COMMIT");
	other.close();
	expect(await change).toBe("later");
	expect((await after).trailingSevenDays.usd).toBe(BigInt(SAMPLE_PRICE));
	expect((await books.audit()).ok).toBe(true);
});

test("calls that were made before the close are answered, later ones are refused", async () => {
	const made = Array.from({ length: 10 }, createKey);
	const closed = opened.store.close();
	expect(await faultOf(createKey())).toBeInstanceOf(StoreUnavailableError);
	expect(new Set((await Promise.all(made)).map(({ id }) => id)).size).toBe(10);
	await closed;
	const rows = await books.admin().db.selectFrom("keys").select("id").execute();
	expect(rows).toHaveLength(10);
});
