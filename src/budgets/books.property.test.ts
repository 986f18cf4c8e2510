/**
 * Property test of the books under random histories: in whatever order requests are held, posted, voided, credited,
 * limited and answered, nothing is spent twice and nothing is lost. A failing run prints its seed; FC_SEED and
 * FC_RUNS replay it.
 */

import { expect, test } from "bun:test";
import fc from "fast-check";
import { ApiError } from "../errors/index.ts";
import { nano, pico, ZERO } from "../ledger/nano.ts";
import { limitNano } from "../store/core/key-limits.ts";
import type { LimitPeriod } from "../store/port.ts";
import type { Caller } from "./caller.ts";
import type { CeilingRequest, Hold } from "./port.ts";
import { priced, type TestNode, testNode, turns } from "./testing/test-node.ts";

const ACCOUNTS = ["rich", "poor", "staker"] as const;
const KEYS = ["rich1", "rich2", "poor1", "poor2", "staker1", "staker2"] as const;

const key = fc.constantFrom(...KEYS);
const account = fc.constantFrom(...ACCOUNTS);
const limit = fc.option(fc.integer({ min: 0, max: 2_000 }).map((value) => `0.${`${value}`.padStart(9, "0")}`));

const step = fc.oneof(
	{ weight: 8, arbitrary: fc.record({ do: fc.constant("hold" as const), key, amount: fc.integer({ min: 0, max: 200 }) }) },
	{
		weight: 3,
		arbitrary: fc.record({
			do: fc.constant("ceiling" as const),
			key,
			max: fc.option(fc.integer({ min: 1, max: 1_000 })),
			choices: fc.integer({ min: 1, max: 3 }),
		}),
	},
	{
		weight: 8,
		arbitrary: fc.record({ do: fc.constant("post" as const), which: fc.nat(50), percent: fc.integer({ min: 0, max: 150 }) }),
	},
	{ weight: 3, arbitrary: fc.record({ do: fc.constant("void" as const), which: fc.nat(50) }) },
	{ weight: 10, arbitrary: fc.record({ do: fc.constant("answer" as const), count: fc.integer({ min: 1, max: 6 }) }) },
	{ weight: 1, arbitrary: fc.record({ do: fc.constant("fail" as const) }) },
	{ weight: 6, arbitrary: fc.record({ do: fc.constant("turn" as const) }) },
	{
		weight: 2,
		arbitrary: fc.record({
			do: fc.constant("credit" as const),
			account,
			source: fc.constantFrom("usd" as const, "bundled" as const),
			amount: fc.integer({ min: 1, max: 500 }),
			told: fc.boolean(),
		}),
	},
	{ weight: 1, arbitrary: fc.record({ do: fc.constant("debit" as const), account, amount: fc.integer({ min: 1, max: 500 }) }) },
	{
		weight: 2,
		arbitrary: fc.record({
			do: fc.constant("limit" as const),
			key,
			usd: limit,
			diem: limit,
			period: fc.constantFrom<LimitPeriod>("EPOCH", "MONTH", "LIFETIME"),
		}),
	},
	{ weight: 1, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(50, 150, 86_400_000) }) },
	{ weight: 1, arbitrary: fc.record({ do: fc.constant("revoke" as const), key }) },
	{ weight: 1, arbitrary: fc.record({ do: fc.constant("idle" as const), ticks: fc.integer({ min: 1, max: 10 }) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Plays a history on a node, and records what the node itself does not report. */
class Player {
	readonly node: TestNode;
	readonly open: Hold[] = [];
	readonly waiting = new Set<Promise<void>>();
	/** Errors that are no refusal. */
	readonly faults: unknown[] = [];
	/** The highest limits that were ever in force, by key: nothing may be spent past them on one day. */
	readonly highest = new Map<string, { usd: number; diem: number }>();

	constructor(node: TestNode) {
		this.node = node;
		node.store.auto = false;
		node.store.addAccount("rich", { usd: 3_000, bundled: 500 });
		node.store.addAccount("poor", { usd: 300 });
		node.store.addAccount("staker", { stakeDiem: 400, usd: 200 });
		for (const name of KEYS) {
			if (name.endsWith("1")) this.#setLimits(name, null, null, "EPOCH");
			else this.#setLimits(name, "0.000000700", "0.000000300", "MONTH");
		}
	}

	play(step: Step): unknown {
		const { node } = this;
		switch (step.do) {
			case "hold":
				return this.#ask(step.key, (caller) => node.budgets.hold(caller, node.context(), nano(step.amount)));
			case "ceiling":
				return this.#ask(step.key, async (caller) => {
					const result = await node.budgets.holdCeiling(caller, node.context(), ceiling(step.max, step.choices));
					return result.hold;
				});
			case "post":
				return this.#post(step.which, step.percent);
			case "void":
				return this.#take(step.which)?.void();
			case "answer":
				for (let i = 0; i < step.count; i++) node.store.step();
				return turns(1);
			case "fail":
				node.store.step("fail");
				return turns(1);
			case "turn":
				return turns(1);
			case "credit":
				node.store.credit(step.account, step.source, step.amount);
				if (step.told) node.store.notify({ kind: "account", accountId: step.account });
				return;
			case "debit":
				node.store.debitFree(step.account, "usd", step.amount);
				node.store.notify({ kind: "account", accountId: step.account });
				return;
			case "limit":
				this.#setLimits(step.key, step.usd, step.diem, step.period);
				return node.store.notifyKey(step.key);
			case "revoke":
				node.store.keys.delete(step.key);
				return node.store.notifyKey(step.key);
			case "idle":
				for (let i = 0; i < step.ticks; i++) node.idleLeases.tick();
				return;
			case "wait":
				return node.clock.advance(step.ms);
		}
	}

	/** Ends all running work: every claim answered, every hold posted or voided, every post applied. */
	async finish(): Promise<void> {
		const { store } = this.node;
		store.auto = true;
		while (store.step());
		for (let turn = 0; this.waiting.size > 0 && turn < 1_000; turn++) await turns(1);
		while (this.open.length > 0) this.#post(0, 80);
		await turns(20);
		await store.settled();
	}

	#ask(hash: string, hold: (caller: Caller) => Hold | Promise<Hold>): void {
		const run = async (): Promise<void> => {
			try {
				const found = this.node.budgets.caller(hash);
				const caller = found instanceof Promise ? await found : found;
				if (caller === null) return;
				const held = hold(caller);
				this.open.push(held instanceof Promise ? await held : held);
			} catch (error) {
				if (!(error instanceof ApiError) || ![401, 402, 503].includes(error.status)) this.faults.push(error);
			}
		};
		const asked = run();
		this.waiting.add(asked);
		void asked.then(() => this.waiting.delete(asked));
	}

	#post(which: number, percent: number): void {
		const hold = this.#take(which);
		if (hold === undefined) return;
		const price = Math.floor((hold.amount * percent) / 100);
		const input = Math.floor(price / 3);
		const lines = [
			{ sku: "input", units: input, picoPrice: pico(1_000) },
			{ sku: "output", units: price - input, picoPrice: pico(1_000) },
		];
		const posted = hold.post({ ...priced(0), lines });
		if (posted === null) throw new Error("an open hold did not post");
		expect(posted.usd + posted.diem + posted.owed + posted.overrun).toBe(price);
		if (price <= hold.amount) expect([posted.owed, posted.overrun]).toEqual([ZERO, ZERO]);
	}

	#take(which: number): Hold | undefined {
		return this.open.splice(which % Math.max(1, this.open.length), 1)[0];
	}

	#setLimits(name: string, usd: string | null, diem: string | null, limitPeriod: LimitPeriod): void {
		if (this.highest.has(name) && !this.node.store.keys.has(name)) return;
		this.node.store.addKey(name, name.replace(/\d$/, ""), { limits: { usd, diem, vcu: null }, limitPeriod });
		const before = this.highest.get(name) ?? { usd: 0, diem: 0 };
		this.highest.set(name, { usd: Math.max(before.usd, limitNano(usd)), diem: Math.max(before.diem, limitNano(diem)) });
	}
}

function ceiling(callerMaxTokens: number | null, choices: number): CeilingRequest {
	return {
		promptTokensBound: 40,
		promptTokensAtLeast: 5,
		callerMaxTokens,
		modelMaxTokens: 300,
		contextTokens: 1_000,
		choices,
		inputPrice: pico(500),
		outputPrice: pico(1_500),
		countPromptTokens: async () => {
			await turns(1);
			return 10;
		},
	};
}

function checkBooks(player: Player): void {
	const { budgets, store, journal } = player.node;
	expect(budgets.holdsOpen).toBe(0);
	expect(player.waiting.size).toBe(0);
	expect(player.faults).toEqual([]);
	for (const name of ACCOUNTS) {
		for (const source of ["diem", "bundled", "usd"] as const) {
			const credited = store.credited.get(`${name}/${source}`) ?? 0;
			expect([name, source, store.balance(name, source) + store.spent(name, source)]).toEqual([name, source, credited]);
			expect(store.balance(name, source)).toBeGreaterThanOrEqual(0);
		}
	}
	const prices = journal.posts.reduce((sum, post) => sum + post.priceNano, 0);
	expect(store.overrun + store.spendings.reduce((sum, { amount }) => sum + amount, 0)).toBe(prices);
	for (const [name, highest] of player.highest) {
		const days = new Map<number, { usd: number; diem: number }>();
		for (const { keyId, day: of, source, amount } of store.spendings) {
			if (keyId !== `key-${name}`) continue;
			const day = days.get(of) ?? { usd: 0, diem: 0 };
			days.set(of, day);
			day[source === "diem" ? "diem" : "usd"] += amount;
		}
		for (const spent of days.values()) {
			expect(spent.usd).toBeLessThanOrEqual(highest.usd);
			expect(spent.diem).toBeLessThanOrEqual(highest.diem);
		}
	}
}

const runs = {
	numRuns: Number(process.env.FC_RUNS ?? 300),
	...(process.env.FC_SEED ? { seed: Number(process.env.FC_SEED) } : {}),
};

test("the books balance and nothing stays open, whatever happens in whatever order", async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(step, { maxLength: 120, size: "max" }),
			fc.constantFrom(2, 100_000),
			fc.boolean(),
			fc.boolean(),
			async (steps, maxCallers, thrifty, auto) => {
				const player = new Player(testNode({ maxCallers }));
				player.node.store.thrifty = thrifty;
				player.node.store.auto = auto;
				for (const one of steps) await player.play(one);
				await player.finish();
				checkBooks(player);

				// No lease stays that this node does not know: after a notice all of it is free again.
				for (const accountId of ACCOUNTS) player.node.store.notify({ kind: "account", accountId });
				await turns(20);
				const { store } = player.node;
				if (maxCallers === 100_000) {
					for (const name of ACCOUNTS) {
						for (const source of ["diem", "bundled", "usd"] as const) expect(store.leased(name, source)).toBe(0);
					}
				}
				player.node.budgets.close();
			},
		),
		runs,
	);
});
