/** The guarantees of idempotency keys, on SQLite and on PostgreSQL. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../../test/support/until.ts";
import { eraseAccount } from "../../store/admin/erase-account.ts";
import { answersFolder } from "../../store/data-folder.ts";
import type { StoreFolder } from "../../store/testing/store-folder.ts";
import { answerOf, createTestKey, fingerprintOf, RpcNode, type RpcNodeOptions, ticketOf } from "./rpc-node.ts";

const HOUR_MS = 3_600_000;
const A = fingerprintOf("a");
const B = fingerprintOf("b");

/** Defines the tests; each gets its own books. */
export function testIdempotency(createStore: () => StoreFolder | Promise<StoreFolder>): void {
	let books: StoreFolder;
	const nodes: RpcNode[] = [];

	beforeEach(async () => {
		books = await createStore();
	});

	afterEach(async () => {
		for (const node of nodes.splice(0)) await node.close().catch(() => {});
		await books.remove();
	});

	async function open(options: RpcNodeOptions = {}): Promise<RpcNode> {
		const node = await RpcNode.open(books, options);
		nodes.push(node);
		return node;
	}

	async function reopen(node: RpcNode): Promise<RpcNode> {
		nodes.splice(nodes.indexOf(node), 1);
		await node.close();
		return open({ clock: node.clock });
	}

	const filesThere = () => (existsSync(answersFolder(books.dir)) ? readdirSync(answersFolder(books.dir)) : []);

	describe("an answer that was posted under a key", () => {
		test("is given again byte for byte, at once and after a restart", async () => {
			const { hash } = await createTestKey(books);
			let node = await open();
			const body = Buffer.from([0, 255, 254, 10, 34, 92, 0]);
			const caller = await node.caller(hash);
			await node.answer(caller, await node.fresh(caller, "k", A), { status: 200, body, note: '{"n":1}' });
			expect(await node.idempotency.claim(caller, "k", A)).toEqual({
				kind: "replay",
				answer: { status: 200, body: expect.anything(), note: '{"n":1}' },
			});
			node = await reopen(node);
			const replay = await node.idempotency.claim(await node.caller(hash), "k", A);
			expect(replay.kind === "replay" && Buffer.from(replay.answer.body).equals(body)).toBe(true);
			expect(node.idempotency.running).toBe(0);
			expect((await books.audit()).findings).toEqual([]);
		});

		test("is not given for another request, nor to another account", async () => {
			const { hash } = await createTestKey(books);
			const stranger = await createTestKey(books);
			const node = await open();
			const caller = await node.caller(hash);
			await node.answer(caller, await node.fresh(caller, "k", A), answerOf("x"));
			expect(await node.idempotency.claim(caller, "k", B)).toEqual({ kind: "reused" });
			expect((await node.idempotency.claim(await node.caller(stranger.hash), "k", B)).kind).toBe("fresh");
		});

		test("is given to every key of the account", async () => {
			const first = await createTestKey(books);
			const second = await createTestKey(books, first.accountId);
			const node = await open();
			const caller = await node.caller(first.hash);
			await node.answer(caller, await node.fresh(caller, "k", A), answerOf("x"));
			expect((await node.idempotency.claim(await node.caller(second.hash), "k", A)).kind).toBe("replay");
		});

		test("lives for 24 hours, then its key is free, also before it is swept", async () => {
			const { hash } = await createTestKey(books);
			const node = await open();
			const caller = await node.caller(hash);
			await node.answer(caller, await node.fresh(caller, "k", A), answerOf("first"));
			node.clock.advance(24 * HOUR_MS - 1);
			expect((await node.idempotency.claim(caller, "k", A)).kind).toBe("replay");
			node.clock.advance(1);
			await node.answer(caller, await node.fresh(caller, "k", B), answerOf("second"));
			const replay = await node.idempotency.claim(caller, "k", B);
			expect(replay.kind === "replay" && Buffer.from(replay.answer.body).toString()).toBe("second");
			await node.sweep.sweep();
			expect((await node.idempotency.claim(caller, "k", B)).kind).toBe("replay");
			node.clock.advance(24 * HOUR_MS);
			await node.sweep.sweep();
			const { db } = books.admin();
			expect(await db.selectFrom("idempotency_answers").selectAll().execute()).toEqual([]);
			expect(await db.selectFrom("idempotency_counts").selectAll().execute()).toEqual([]);
		});
	});

	describe("a request under way", () => {
		test("keeps others with its key out until it ends", async () => {
			const { hash } = await createTestKey(books);
			const node = await open();
			const caller = await node.caller(hash);
			const ticket = await node.fresh(caller, "k", A);
			expect(await node.idempotency.claim(caller, "k", A)).toEqual({ kind: "running" });
			expect(await node.idempotency.claim(caller, "k", B)).toEqual({ kind: "reused" });
			expect((await node.idempotency.claim(caller, "other", A)).kind).toBe("fresh");
			ticket.release();
			ticket.release();
			const again = await node.fresh(caller, "k", B);
			await node.answer(caller, again, answerOf("b"));
			again.release();
			expect((await node.idempotency.claim(caller, "k", B)).kind).toBe("replay");
		});

		test("is one of all that come at once", async () => {
			const { hash } = await createTestKey(books);
			const node = await open();
			const caller = await node.caller(hash);
			const claims = await Promise.all(Array.from({ length: 40 }, () => node.idempotency.claim(caller, "k", A)));
			const kinds = claims.map((claim) => claim.kind);
			expect(kinds.filter((kind) => kind === "fresh")).toEqual(["fresh"]);
			expect(kinds.filter((kind) => kind === "running").length).toBe(39);
			const [first] = claims;
			if (first !== undefined) await node.answer(caller, ticketOf(first), answerOf("x"));
			const later = await Promise.all(Array.from({ length: 40 }, () => node.idempotency.claim(caller, "k", A)));
			expect(new Set(later.map((claim) => claim.kind))).toEqual(new Set(["replay"]));
		});

		test("frees its key at a restart where it had no answer", async () => {
			const { hash } = await createTestKey(books);
			let node = await open();
			await node.fresh(await node.caller(hash), "k", A);
			node = await reopen(node);
			expect((await node.idempotency.claim(await node.caller(hash), "k", B)).kind).toBe("fresh");
		});

		test("posts its charge where its answer is not kept, and frees the key", async () => {
			const { hash } = await createTestKey(books);
			const node = await open();
			const caller = await node.caller(hash);
			const ticket = await node.fresh(caller, "k", A);
			const body = new Uint8Array((8 << 20) + 1);
			expect(await ticket.prepare({ status: 200, body, note: "" })).toBeNull();
			await node.answer(caller, ticket, { status: 200, body, note: "" });
			expect((await node.idempotency.claim(caller, "k", A)).kind).toBe("fresh");
		});
	});

	describe("an outcome that nobody knows", () => {
		test("is told to the next request with the key, until one is answered", async () => {
			const { hash } = await createTestKey(books);
			let node = await open();
			const first = await node.fresh(await node.caller(hash), "k", A);
			await first.keepUnknown('{"hashes":["0x1"]}');
			first.release();
			node = await reopen(node);
			const caller = await node.caller(hash);
			expect(await node.idempotency.claim(caller, "k", B)).toEqual({ kind: "reused" });
			const retry = await node.idempotency.claim(caller, "k", A);
			expect(retry).toMatchObject({ kind: "unknown", note: '{"hashes":["0x1"]}' });
			expect(await node.idempotency.claim(caller, "k", A)).toEqual({ kind: "running" });
			ticketOf(retry).release();
			const again = await node.idempotency.claim(caller, "k", A);
			expect(again.kind).toBe("unknown");
			await node.answer(caller, ticketOf(again), answerOf("done"));
			expect(await node.idempotency.claim(caller, "k", A)).toMatchObject({ kind: "replay" });
			expect((await books.audit()).findings).toEqual([]);
		});

		test("that was foreseen is told after a kill, gives way to the answer, and is taken back where the request fails", async () => {
			const { hash } = await createTestKey(books);
			let node = await open();
			const caller = await node.caller(hash);
			const failed = await node.fresh(caller, "failed", A);
			await failed.foresee("hashes");
			expect(await node.idempotency.claim(caller, "failed", A)).toEqual({ kind: "running" });
			failed.release();
			expect((await node.idempotency.claim(caller, "failed", B)).kind).toBe("fresh");
			const answered = await node.fresh(caller, "answered", A);
			await answered.foresee("hashes");
			await node.opened.store.settled();
			await node.answer(caller, answered, answerOf("x"));
			expect((await node.idempotency.claim(caller, "answered", A)).kind).toBe("replay");
			await (await node.fresh(caller, "killed", A)).foresee("hashes");
			node = await reopen(node);
			const again = await node.idempotency.claim(await node.caller(hash), "killed", A);
			expect(again).toMatchObject({ kind: "unknown", note: "hashes" });
			await ticketOf(again).foresee("the same hashes");
			// The outcome of the first attempt is no better known where the second one fails.
			ticketOf(again).release();
			const third = await node.idempotency.claim(await node.caller(hash), "killed", A);
			expect(third).toMatchObject({ kind: "unknown", note: "the same hashes" });
			expect((await books.audit()).findings).toEqual([]);
		});

		test("is not put in the place of an answer", async () => {
			const { hash, accountId } = await createTestKey(books);
			const node = await open();
			const caller = await node.caller(hash);
			await node.answer(caller, await node.fresh(caller, "k", A), answerOf("x"));
			const expiresAtMs = node.clock.wallMs() + 24 * HOUR_MS;
			const late = {
				t: "unknown-outcome",
				accountId,
				key: "k",
				fingerprint: A,
				claim: "late",
				ends: true,
				expiresAtMs,
				note: "",
			} as const;
			await node.opened.journal.append(late);
			expect((await node.idempotency.claim(caller, "k", A)).kind).toBe("replay");
		});
	});

	describe("an account with as many keys as are kept of one", () => {
		test("gets no new one, and its old ones all the same", async () => {
			const { hash } = await createTestKey(books);
			const other = await createTestKey(books);
			const node = await open({ maxKeys: 3 });
			const caller = await node.caller(hash);
			for (const key of ["a", "b"]) await node.answer(caller, await node.fresh(caller, key, A), answerOf(key));
			await (await node.fresh(caller, "c", A)).keepUnknown("");
			expect(await node.idempotency.claim(caller, "d", A)).toEqual({ kind: "full" });
			expect((await node.idempotency.claim(caller, "a", A)).kind).toBe("replay");
			expect((await node.idempotency.claim(caller, "c", A)).kind).toBe("unknown");
			expect((await node.idempotency.claim(await node.caller(other.hash), "d", A)).kind).toBe("fresh");
			// At most an hour more: keys are counted by the hour in which they expire.
			node.clock.advance(25 * HOUR_MS);
			expect((await node.idempotency.claim(caller, "d", A)).kind).toBe("fresh");
		});
	});

	describe("a large answer", () => {
		const large = (bytes: number) => ({ status: 200, body: new Uint8Array(bytes).map((_, at) => (at * 7) % 251), note: "large" });

		test("is given again whole, after a restart too", async () => {
			const { hash } = await createTestKey(books);
			let node = await open();
			for (const bytes of [256 << 10, (256 << 10) + 1, 3 << 20]) {
				const caller = await node.caller(hash);
				await node.answer(caller, await node.fresh(caller, `k${bytes}`, A), large(bytes));
			}
			expect(filesThere().length).toBe(2);
			node = await reopen(node);
			for (const bytes of [256 << 10, (256 << 10) + 1, 3 << 20]) {
				const replay = await node.idempotency.claim(await node.caller(hash), `k${bytes}`, A);
				expect(replay.kind === "replay" && Buffer.from(replay.answer.body).equals(large(bytes).body)).toBe(true);
			}
		});

		test("leaves no file where its request fails", async () => {
			const { hash } = await createTestKey(books);
			const node = await open();
			const ticket = await node.fresh(await node.caller(hash), "k", A);
			const writing = ticket.prepare(large(300_000));
			ticket.release();
			expect(await writing).toBeNull();
			const second = await node.fresh(await node.caller(hash), "k", A);
			await second.prepare(large(300_000));
			expect(filesThere().length).toBe(1);
			second.release();
			await until(() => filesThere().length === 0);
		});

		test("goes with its account: the file too, once no request can be on its way to it", async () => {
			const { hash, accountId } = await createTestKey(books);
			await createTestKey(books);
			const node = await open();
			const caller = await node.caller(hash);
			await node.answer(caller, await node.fresh(caller, "k", A), large(300_000));
			await node.opened.store.settled();
			const { db } = books.admin();
			await db.updateTable("accounts").set({ operator: 0 }).where("id", "=", accountId).execute();
			await eraseAccount(books.admin(), accountId);
			await node.sweep.sweep();
			if (books.postgres !== undefined) {
				expect(await db.selectFrom("idempotency_bodies").select("part").execute()).toEqual([]);
				return;
			}
			const [file = ""] = filesThere();
			const old = new Date(Date.now() - HOUR_MS);
			utimesSync(join(answersFolder(books.dir), file), old, old);
			await node.sweep.sweep();
			expect(filesThere().length).toBe(1);
			node.clock.advance(HOUR_MS);
			await node.sweep.sweep();
			expect(filesThere()).toEqual([]);
		});

		test("whose file a crash left over is removed at the next start; other files stay", async () => {
			const folder = answersFolder(books.dir);
			mkdirSync(folder, { recursive: true });
			const { hash } = await createTestKey(books);
			let node = await open();
			const caller = await node.caller(hash);
			await node.answer(caller, await node.fresh(caller, "k", A), large(300_000));
			const { epoch } = node.opened.store.node;
			const [kept = ""] = filesThere();
			writeFileSync(join(folder, `${epoch}-${"0".repeat(32)}`), "left over");
			writeFileSync(join(folder, `${epoch}-${"1".repeat(32)}.tmp`), "half");
			writeFileSync(join(folder, "notes.txt"), "the operator's");
			node = await reopen(node);
			await node.sweep.sweep();
			const expected = books.postgres === undefined ? [kept, "notes.txt"] : ["notes.txt"];
			expect(filesThere().sort()).toEqual(expected.sort());
			const replay = await node.idempotency.claim(await node.caller(hash), "k", A);
			expect(replay.kind).toBe("replay");
		});
	});
}
