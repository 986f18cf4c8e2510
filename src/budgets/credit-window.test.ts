import { expect, test } from "bun:test";
import fc from "fast-check";
import { creditBucket } from "../store/core/rpc-records.ts";
import type { CreditBucket, CreditQuery } from "../store/idempotency.ts";
import { StoreUnavailableError } from "../store/store-errors.ts";
import { ManualClock } from "../telemetry/clock.ts";
import type { Caller } from "./caller.ts";
import { StoreCreditWindow } from "./credit-window.ts";
import type { CreditTake } from "./port.ts";
import { ManualTimers } from "./testing/manual-timers.ts";
import { refused, turns } from "./testing/test-node.ts";

const START = Date.parse("2026-03-10T12:00:00Z");
const caller = (id: string) => ({ account: { id } }) as Caller;
const asks = (worstCredits: number, limitCredits = 1_000_000) => ({ worstCredits, limitCredits, subject: "crypto-rpc/x" });

/**
 * A store that several nodes post to. A call is answered when the test releases it, with the posts at the time of the
 * call.
 */
class Posts {
	readonly shared = true;
	readonly sums = new Map<string, number>();
	readonly #waiting: (() => void)[] = [];
	failing = false;
	calls = 0;

	post(account: string, atMs: number, credits: number): void {
		const key = `${account} ${creditBucket(atMs)}`;
		this.sums.set(key, (this.sums.get(key) ?? 0) + credits);
	}

	rpcCredits({ accountIds, fromBucket }: CreditQuery): Promise<readonly CreditBucket[]> {
		this.calls++;
		if (this.failing) return Promise.reject(new StoreUnavailableError("away"));
		const answer = [...this.sums].flatMap(([key, credits]) => {
			const [accountId = "", bucket = ""] = key.split(" ");
			return accountIds.includes(accountId) && Number(bucket) >= fromBucket
				? [{ accountId, bucket: Number(bucket), credits }]
				: [];
		});
		return new Promise((resolve) => this.#waiting.push(() => resolve(answer)));
	}

	async letGo(): Promise<void> {
		for (const answer of this.#waiting.splice(0)) answer();
		await turns();
	}
}

function creditWindow(maxAccounts?: number) {
	const clock = new ManualClock(START);
	const store = new Posts();
	const timers = new ManualTimers();
	const credits = new StoreCreditWindow({ store, clock, timers, ...(maxAccounts === undefined ? {} : { maxAccounts }) });
	return { clock, store, timers, credits };
}

test("an account is read once, however many requests wait for it, and counts what they may use meanwhile", async () => {
	const { store, credits } = creditWindow();
	store.post("a", START, 70);
	const takes = Promise.allSettled([credits.take(caller("a"), asks(20, 100)), credits.take(caller("a"), asks(20, 100))]);
	expect(store.calls).toBe(1);
	await store.letGo();
	expect((await takes).map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
});

test("a store that is away refuses accounts that are not known, and lets known ones go on", async () => {
	const { clock, store, timers, credits } = creditWindow();
	const first = Promise.resolve(credits.take(caller("a"), asks(10, 100)));
	await store.letGo();
	(await first).settle(10);
	store.post("a", START, 10);
	store.failing = true;
	expect((await refused(() => credits.take(caller("b"), asks(1)))).code).toBe("SERVICE_UNAVAILABLE");
	await timers.fire();
	clock.advance(60_000);
	(await credits.take(caller("a"), asks(90, 100))).settle(0);
	expect((await refused(() => credits.take(caller("a"), asks(91, 100)))).code).toBe("RATE_LIMIT_EXCEEDED");
});

test("no more accounts are kept than are allowed, but for those with requests under way", async () => {
	const { store, credits } = creditWindow(3);
	const open: CreditTake[] = [];
	for (let number = 0; number < 20; number++) {
		const take = Promise.resolve(credits.take(caller(`a${number}`), asks(1)));
		await store.letGo();
		if (number < 2) open.push(await take);
		else (await take).settle(1);
	}
	expect(credits.size).toBeLessThanOrEqual(5);
	store.failing = true;
	for (let number = 100; number < 150; number++) await refused(() => credits.take(caller(`a${number}`), asks(1)));
	expect(credits.size).toBeLessThanOrEqual(5);
	expect((await refused(() => credits.take(caller("a0"), asks(2, 2)))).code).toBe("RATE_LIMIT_EXCEEDED");
	for (const take of open) take.settle(0);
});

test("an account that nobody asks for is not read on and on", async () => {
	const { clock, store, timers, credits } = creditWindow();
	const first = Promise.resolve(credits.take(caller("a"), asks(1)));
	await store.letGo();
	(await first).settle(0);
	await timers.fire();
	await store.letGo();
	const { calls } = store;
	clock.advance(10_001);
	await timers.fire();
	await timers.fire();
	expect(store.calls).toBe(calls);
});

test("whatever is read while requests end, each credit counts once, those of other nodes from the next reading on", async () => {
	const step = fc.oneof(
		{ weight: 4, arbitrary: fc.record({ do: fc.constant("use" as const), credits: fc.integer({ min: 1, max: 50 }) }) },
		{ weight: 2, arbitrary: fc.record({ do: fc.constant("other" as const), credits: fc.integer({ min: 1, max: 50 }) }) },
		{ weight: 2, arbitrary: fc.record({ do: fc.constantFrom("ask" as const, "answer" as const) }) },
		{ weight: 1, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: 1, max: 400_000 }) }) },
	);
	await fc.assert(
		fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
			const { clock, store, timers, credits } = creditWindow();
			const first = Promise.resolve(credits.take(caller("a"), asks(1)));
			await store.letGo();
			(await first).settle(0);
			let all = 0;
			for (const one of steps) {
				if (one.do === "use") {
					const take = Promise.resolve(credits.take(caller("a"), asks(one.credits)));
					await store.letGo();
					await store.letGo();
					store.post("a", clock.wallMs(), one.credits);
					(await take).settle(one.credits);
					all += one.credits;
				} else if (one.do === "other") {
					store.post("a", clock.wallMs(), one.credits);
					all += one.credits;
				} else if (one.do === "wait") clock.advance(one.ms);
				else if (one.do === "ask") await timers.fire();
				else await store.letGo();
			}
			clock.advance(20_000);
			const last = Promise.resolve(credits.take(caller("a"), asks(1)));
			await store.letGo();
			await store.letGo();
			(await last).settle(0);
			expect((await refused(() => credits.take(caller("a"), asks(1, all)))).options.headers).toMatchObject({
				"X-RateLimit-Remaining": "0",
			});
			const fits = await credits.take(caller("a"), asks(1, all + 1));
			fits.settle(0);
			credits.close();
		}),
		{ numRuns: 100 },
	);
});
