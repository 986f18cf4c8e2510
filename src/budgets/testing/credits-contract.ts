/** The guarantees for the credits of a day, on SQLite and on PostgreSQL. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { listSends } from "../../store/queries/sends.ts";
import type { StoreFolder } from "../../store/testing/store-folder.ts";
import type { Caller } from "../caller.ts";
import type { CreditTake } from "../port.ts";
import { answerOf, createTestKey, RpcNode, type RpcNodeOptions } from "./rpc-node.ts";
import { refused } from "./test-node.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export const creditRequest = (worstCredits: number, limitCredits: number) => ({
	worstCredits,
	limitCredits,
	subject: "crypto-rpc/ethereum-mainnet",
});

/** Makes a request that uses `credits`: taken, posted and settled in one turn. */
export async function use(node: RpcNode, caller: Caller, credits: number, limit: number): Promise<void> {
	const take: CreditTake = await node.credits.take(caller, creditRequest(credits, limit));
	const hold = await node.hold(caller, credits);
	const posted = node.post(hold, null, credits);
	take.settle(credits);
	await posted;
}

/** Defines the tests; each gets its own books. */
export function testCredits(createStore: () => StoreFolder | Promise<StoreFolder>): void {
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

	describe("credits of 24 hours", () => {
		test("are one pool for all keys of an account, and up to the limit exactly", async () => {
			const first = await createTestKey(books);
			const second = await createTestKey(books, first.accountId);
			const stranger = await createTestKey(books);
			const node = await open();
			const [a, b, c] = [await node.caller(first.hash), await node.caller(second.hash), await node.caller(stranger.hash)];
			await use(node, a, 60, 100);
			await use(node, b, 40, 100);
			expect((await refused(() => node.credits.take(a, creditRequest(1, 100)))).status).toBe(429);
			await use(node, c, 100, 100);
			await use(node, a, 1, 101);
		});

		test("count the worst case while a request runs, and the real use after it", async () => {
			const { hash } = await createTestKey(books);
			const node = await open();
			const caller = await node.caller(hash);
			const take = await node.credits.take(caller, creditRequest(80, 100));
			const error = await refused(() => node.credits.take(caller, creditRequest(30, 100)));
			expect(error.options.headers).toMatchObject({ "X-RateLimit-Limit": "100", "X-RateLimit-Remaining": "20" });
			expect(error.options.retryAfterSeconds).toBe(1);
			take.settle(5);
			take.settle(90);
			const next = await node.credits.take(caller, creditRequest(95, 100));
			next.settle(0);
			expect((await refused(() => node.credits.take(caller, creditRequest(96, 100)))).code).toBe("RATE_LIMIT_EXCEEDED");
		});

		test("that are used up say so with all that the answer needs", async () => {
			const { hash } = await createTestKey(books);
			const node = await open();
			const caller = await node.caller(hash);
			const bucketEnd = Math.floor(node.clock.wallMs() / (5 * MINUTE_MS) + 1) * 5 * MINUTE_MS;
			await use(node, caller, 10, 100);
			node.clock.advance(2 * HOUR_MS);
			await use(node, caller, 85, 100);
			const error = await refused(() => node.credits.take(caller, creditRequest(40, 100)));
			expect([error.status, error.code, error.message]).toEqual([429, "RATE_LIMIT_EXCEEDED", "Rate limit exceeded"]);
			expect(error.options.extra).toEqual({ customMessage: "Crypto RPC limit of 100 credits per 24 hours reached" });
			expect(error.options.limit).toEqual({ kind: "RPD", subject: "crypto-rpc/ethereum-mainnet" });
			const reset = Math.ceil((bucketEnd + DAY_MS) / 1000);
			expect(error.options.headers).toEqual({
				"X-RateLimit-Limit": "100",
				"X-RateLimit-Remaining": "5",
				"X-RateLimit-Reset": `${reset}`,
			});
			// The first bucket frees 10 credits, which is not enough: the second one expires two hours later.
			expect(error.options.retryAfterSeconds).toBe(Math.ceil((bucketEnd + DAY_MS + 2 * HOUR_MS - node.clock.wallMs()) / 1000));
		});

		test("leave as their day goes by, are found again after a restart, and survive a clock that steps back", async () => {
			const { hash } = await createTestKey(books);
			let node = await open();
			await use(node, await node.caller(hash), 70, 100);
			node.clock.advance(12 * HOUR_MS);
			await use(node, await node.caller(hash), 30, 100);
			node = await reopen(node);
			expect((await refused(async () => node.credits.take(await node.caller(hash), creditRequest(1, 100)))).status).toBe(429);
			node.clock.setWall(node.clock.wallMs() - 6 * HOUR_MS);
			expect((await refused(async () => node.credits.take(await node.caller(hash), creditRequest(1, 100)))).status).toBe(429);
			node.clock.advance(18 * HOUR_MS + 5 * MINUTE_MS);
			const take = await node.credits.take(await node.caller(hash), creditRequest(70, 100));
			expect((await refused(async () => node.credits.take(await node.caller(hash), creditRequest(1, 100)))).status).toBe(429);
			take.settle(0);
			node = await reopen(node);
			(await node.credits.take(await node.caller(hash), creditRequest(70, 100))).settle(0);
		});

		test("are those of the chain proxy alone, and leave the store two days later", async () => {
			const { hash, accountId } = await createTestKey(books);
			const node = await open();
			const caller = await node.caller(hash);
			await use(node, caller, 20, 100);
			const context = { requestId: "c".repeat(32), route: "chat", model: null, admittedAtMs: node.clock.wallMs() };
			const chat = await node.budgets.hold(caller, context, 0 as never);
			await chat.post({
				lines: [{ sku: "tokens", units: 5_000, picoPrice: 0 as never }],
				usage: null,
				status: 200,
				upstream: null,
			})?.durable;
			await node.opened.store.settled();
			const rows = () => books.admin().db.selectFrom("rpc_credits").select(["account_id", "credits"]).execute();
			expect(await rows()).toEqual([{ account_id: accountId, credits: 20n }]);
			node.clock.advance(47 * HOUR_MS);
			await node.sweep.sweep();
			expect((await rows()).length).toBe(1);
			node.clock.advance(2 * HOUR_MS);
			await node.sweep.sweep();
			expect(await rows()).toEqual([]);
		});

		test("of a request whose answer was kept count once, and a replay none", async () => {
			const { hash } = await createTestKey(books);
			const node = await open();
			const caller = await node.caller(hash);
			await node.answer(caller, await node.fresh(caller, "k", "f"), answerOf("x"), 40);
			await node.idempotency.claim(caller, "k", "f");
			await node.opened.store.settled();
			const rows = await books.admin().db.selectFrom("rpc_credits").select("credits").execute();
			expect(rows).toEqual([{ credits: 40n }]);
		});
	});

	describe("the audit of sends", () => {
		const hash = (digit: string) => `0x${digit.repeat(64)}`;
		const all = (hashes: { hash?: string; network?: string; keyId?: string; sinceMs?: number } = {}) =>
			listSends(books.admin(), { limit: 100, ...hashes });

		test("has a send before it goes out, and its outcome after; without one nobody knows", async () => {
			const { hash: key, accountId, keyId } = await createTestKey(books);
			let node = await open();
			const caller = await node.caller(key);
			const row = { caller, network: "base-mainnet", method: "eth_sendRawTransaction" } as const;
			const sentAtMs = node.clock.wallMs();
			await node.sends.begin([
				{ ...row, requestId: "r1", item: 0, rawHash: hash("A"), txHash: hash("b") },
				{ ...row, requestId: "r1", item: 3, rawHash: null, txHash: null },
			]);
			await node.sends.begin([]);
			node.clock.advance(1_000);
			node.sends.end("r1", 3, "accepted", hash("C"));
			node.sends.end("r1", 3, "-32000", null);
			node = await reopen(node);
			const common = { accountId, keyId, network: "base-mainnet", method: "eth_sendRawTransaction", requestId: "r1", sentAtMs };
			const first = { ...common, item: 0, rawHash: hash("a"), txHash: hash("b"), outcome: null, endedAtMs: null };
			const second = { ...common, item: 3, rawHash: null, txHash: hash("c"), outcome: "accepted", endedAtMs: sentAtMs + 1_000 };
			expect(await all()).toEqual([second, first]);
			expect(await all({ hash: hash("A") })).toEqual([first]);
			expect(await all({ hash: hash("B") })).toEqual([first]);
			expect(await all({ hash: hash("c") })).toEqual([second]);
			expect(await all({ hash: hash("d") })).toEqual([]);
			expect(await all({ network: "base-mainnet", keyId, sinceMs: sentAtMs })).toEqual([second, first]);
			expect(await all({ network: "base-sepolia" })).toEqual([]);
			expect(await all({ keyId: "other" })).toEqual([]);
			expect(await all({ sinceMs: sentAtMs + 1 })).toEqual([]);
			expect((await books.audit()).findings).toEqual([]);
		});

		test("is kept as long as the operator says", async () => {
			const { hash: key } = await createTestKey(books);
			const node = await open({ sendsKeptDays: 400 });
			const caller = await node.caller(key);
			const rows = Array.from({ length: 450 }, (_, item) => ({
				caller,
				requestId: "r1",
				item,
				network: "base-mainnet",
				method: "eth_sendRawTransaction",
				rawHash: hash("a"),
				txHash: hash("a"),
			}));
			await node.sends.begin(rows);
			node.clock.advance(400 * DAY_MS);
			await node.sends.begin(rows.map((row) => ({ ...row, requestId: "r2" })));
			await node.sweep.sweep();
			expect((await listSends(books.admin(), { limit: 1_000 })).length).toBe(900);
			node.clock.advance(1);
			await node.sweep.sweep();
			const left = await listSends(books.admin(), { limit: 1_000 });
			expect(new Set(left.map((send) => send.requestId))).toEqual(new Set(["r2"]));
		});
	});
}
