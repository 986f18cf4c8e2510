/** The rows that the store makes of the chain proxy's records, on SQLite and on PostgreSQL. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { crc32 } from "node:zlib";
import type { JournalRecord, PostRecord, SendRecord, StoredAnswerPart, UnknownOutcomeRecord } from "../../journal/records.ts";
import { requestId, SAMPLE_DAY, sampleLine, samplePost } from "../../journal/testing/sample-records.ts";
import { nano, pico } from "../../ledger/nano.ts";
import { RETAINED_MS } from "../core/rpc-records.ts";
import { type OpenedStore, openStore } from "../index.ts";
import type { StoreFolder } from "./store-folder.ts";

const NOW = SAMPLE_DAY * 86_400_000;
const FINGERPRINT = "f".repeat(64);

/** Defines the tests; each gets its own books. */
export function testRpcRecords(createStore: () => StoreFolder | Promise<StoreFolder>): void {
	let books: StoreFolder;
	let accountId: string;
	const opened: OpenedStore[] = [];

	beforeEach(async () => {
		books = await createStore();
		accountId = await books.account();
	});

	afterEach(async () => {
		for (const { store } of opened.splice(0)) await store.close().catch(() => {});
		await books.remove();
	});

	async function open(): Promise<OpenedStore> {
		const store = await openStore({
			dataDir: books.dir,
			postgres: books.postgres,
			journal: { segmentBytes: 1 << 20, minFreeDiskBytes: 0 },
		});
		opened.push(store);
		return store;
	}

	function kept(key: string, text: string, changes: Partial<StoredAnswerPart> = {}): StoredAnswerPart {
		const body = Buffer.from(text);
		return {
			key,
			fingerprint: FINGERPRINT,
			claim: `claim of ${text}`,
			expiresAtMs: NOW + RETAINED_MS,
			status: 200,
			note: "n",
			bytes: body.length,
			crc32: crc32(body),
			body: body.toString("base64"),
			file: null,
			...changes,
		};
	}

	function post(number: number, changes: Partial<PostRecord> = {}): PostRecord {
		const lines = [sampleLine("crypto-rpc-credit", 20, pico(625_000))];
		return samplePost(requestId(number), accountId, { route: "crypto-rpc", model: null, usage: null, lines, ...changes });
	}

	const unknown = (key: string, changes: Partial<UnknownOutcomeRecord> = {}): UnknownOutcomeRecord => ({
		t: "unknown-outcome",
		accountId,
		key,
		fingerprint: FINGERPRINT,
		claim: "c",
		ends: true,
		expiresAtMs: NOW + RETAINED_MS,
		note: "hashes",
		...changes,
	});

	const send = (item: number, changes: Partial<SendRecord> = {}): SendRecord => ({
		t: "send",
		requestId: "r",
		item,
		accountId,
		keyId: "key",
		network: "base-mainnet",
		method: "eth_sendRawTransaction",
		rawHash: "0xa",
		txHash: null,
		atMs: NOW,
		...changes,
	});

	/** Appends records in one turn, so that they form one group, and waits until they are applied. */
	async function apply({ store, journal }: OpenedStore, records: readonly JournalRecord[]): Promise<void> {
		await store.acquire({ accountId, day: SAMPLE_DAY, needNano: nano(1_000_000) });
		await Promise.all(records.map((record) => journal.append(record)));
		await store.settled();
	}

	async function answers(): Promise<Record<string, string>> {
		const rows = await books.admin().db.selectFrom("idempotency_answers").selectAll().orderBy("key").execute();
		return Object.fromEntries(
			rows.map((row) => [row.key, row.known === 1n ? Buffer.from(row.body ?? "").toString() : "unknown"]),
		);
	}

	async function counted(): Promise<number> {
		const rows = await books.admin().db.selectFrom("idempotency_counts").selectAll().execute();
		return rows.reduce((sum, row) => sum + Number(row.keys), 0);
	}

	const rejected = async () => (await books.admin().db.selectFrom("rejected").select("record").execute()).length;

	test("of two answers under a key the first stands; one that nobody knew gives way to it", async () => {
		await apply(await open(), [
			post(1, { kept: kept("a", "first") }),
			post(2, { kept: kept("a", "second") }),
			unknown("b"),
			post(3, { kept: kept("b", "known") }),
			unknown("c"),
			post(4, { kept: kept("d", "answered") }),
			unknown("d"),
		]);
		expect(await answers()).toEqual({ a: "first", b: "known", c: "unknown", d: "answered" });
		expect(await counted()).toBe(4);
		const store = opened[0];
		if (store === undefined) throw new Error("no store is open");
		await apply(store, [post(5, { kept: kept("a", "third") }), post(6, { kept: kept("c", "late") })]);
		expect(await answers()).toEqual({ a: "first", b: "known", c: "late", d: "answered" });
		expect(await counted()).toBe(4);
		expect(await rejected()).toBe(0);
		expect((await books.audit()).findings).toEqual([]);
	});

	test("an answer stands under the key of who asked, and ends that claim, where another account paid", async () => {
		const asker = await books.account();
		const here = await open();
		const claim = async (of: string, name: string) => {
			const asked = { accountId: of, key: "a", fingerprint: FINGERPRINT, claim: name };
			const trip = { claims: [asked], releases: [], drops: [], nowMs: NOW, maxKeys: 10 };
			return (await here.store.idempotency(trip)).map(({ kind }) => kind);
		};
		expect(await claim(asker, "first")).toEqual(["fresh"]);
		await apply(here, [post(1, { kept: kept("a", "answer", { accountId: asker, claim: "first" }) })]);
		expect(await claim(asker, "second")).toEqual(["kept"]);
		expect(await claim(accountId, "third")).toEqual(["fresh"]);
		expect((await books.audit()).findings).toEqual([]);
	});

	test("what is known not to be unknown any more is forgotten, in one batch and in several; an answer stays", async () => {
		const known = (key: string) => ({ t: "outcome-known", accountId, key, fingerprint: FINGERPRINT }) as const;
		const store = await open();
		await apply(store, [
			unknown("a"),
			known("a"),
			unknown("b"),
			known("b"),
			unknown("b"),
			post(1, { kept: kept("c", "answered") }),
			known("c"),
			unknown("d"),
			unknown("e"),
			{ ...known("e"), fingerprint: "other" },
		]);
		expect(await answers()).toEqual({ b: "unknown", c: "answered", d: "unknown", e: "unknown" });
		await apply(store, [known("b"), known("c"), known("d"), post(2, { kept: kept("d", "later") }), known("none")]);
		expect(await answers()).toEqual({ c: "answered", d: "later", e: "unknown" });
		expect(await counted()).toBe(3);
		expect(await rejected()).toBe(0);
	});

	test("an answer takes the place of one that had expired when it was made, and is counted in its own hour", async () => {
		await apply(await open(), [post(1, { kept: kept("a", "old") }), unknown("b")]);
		const store = opened[0];
		if (store === undefined) throw new Error("no store is open");
		const later = { expiresAtMs: NOW + 2 * RETAINED_MS };
		await apply(store, [post(2, { kept: kept("a", "new", later) }), unknown("b", later)]);
		expect(await answers()).toEqual({ a: "new", b: "unknown" });
		const hours = await books.admin().db.selectFrom("idempotency_counts").selectAll().execute();
		expect(hours.map((row) => [row.hour, row.keys])).toEqual([[BigInt((NOW + 2 * RETAINED_MS) / 3_600_000), 2n]]);
	});

	test("one that the store cannot take is set aside, and the others of its group are booked", async () => {
		await apply(await open(), [
			post(1, { kept: kept("a", "good") }),
			post(2, { kept: kept("b", "shorter than it says", { bytes: 1_000 }) }),
			post(3, { kept: kept("c", "nothing", { body: null }) }),
			post(4, { kept: kept("", "a key of no characters") }),
			unknown("d", { accountId: "acc_none" }),
			send(0),
			send(-1),
			send(1, { accountId: "acc_none" }),
			post(5, { kept: kept("e", "good too") }),
		]);
		expect(await answers()).toEqual({ a: "good", e: "good too" });
		expect(await rejected()).toBe(6);
		expect((await books.admin().db.selectFrom("rpc_sends").select("item").execute()).map((row) => row.item)).toEqual([0n]);
		const posts = await books.admin().db.selectFrom("posts").select("request_id").orderBy("request_id").execute();
		expect(posts.map((row) => row.request_id)).toEqual([requestId(1), requestId(5)]);
	});

	test("credits are summed by account and 5 minutes, over posts of one batch and of several", async () => {
		const store = await open();
		const at = (ms: number) => ({ doneAtMs: NOW + ms });
		await apply(store, [post(1, at(0)), post(2, at(299_999)), post(3, at(300_000)), post(4, { route: "chat" })]);
		await apply(store, [post(5, at(1)), post(6, { ...at(1), lines: [sampleLine("free", 7, pico(0))] })]);
		const rows = await books.admin().db.selectFrom("rpc_credits").selectAll().orderBy("bucket").execute();
		expect(rows.map(({ bucket, credits }) => [bucket, credits])).toEqual([
			[BigInt(NOW / 300_000), 67n],
			[BigInt(NOW / 300_000) + 1n, 20n],
		]);
	});

	test("credits are counted for who called, whoever paid", async () => {
		const store = await open();
		const caller = await books.account();
		await apply(store, [post(1, { callerId: caller }), post(2)]);
		const rows = await books.admin().db.selectFrom("rpc_credits").select(["account_id", "credits"]).execute();
		expect(rows.map(({ credits }) => credits)).toEqual([20n, 20n]);
		expect(rows.map(({ account_id: id }) => id)).toContain(caller);
	});

	test("of several outcomes of a send the first stands, in one batch too; a hash that was known stays", async () => {
		const end = { t: "send-end", requestId: "r", outcome: "accepted", txHash: "0xb", atMs: NOW + 5 } as const;
		const store = await open();
		await apply(store, [
			send(0),
			send(0, { rawHash: "0xother" }),
			send(1, { txHash: "0xmine" }),
			{ ...end, item: 0 },
			{ ...end, item: 0, outcome: "-32000", txHash: "0xc" },
			{ ...end, item: 1, txHash: null },
			{ ...end, item: 9 },
		]);
		await apply(store, [{ ...end, item: 0, outcome: "late" }]);
		const rows = await books.admin().db.selectFrom("rpc_sends").selectAll().orderBy("item").execute();
		expect(rows.map((row) => [row.item, row.raw_hash, row.tx_hash, row.outcome, row.ended_at])).toEqual([
			[0n, "0xa", "0xb", "accepted", BigInt(NOW + 5)],
			[1n, "0xa", "0xmine", "accepted", BigInt(NOW + 5)],
		]);
	});
}
