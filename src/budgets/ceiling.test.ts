import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { lineNano, nano, parseNano, pico, picoPerUnit } from "../ledger/nano.ts";
import { lineOrMore, unitsFor } from "./ceiling.ts";
import type { CeilingRequest } from "./port.ts";
import { priced, refused, testNode } from "./testing/test-node.ts";

const usd = (text: string) => parseNano(text) ?? nano(0);

/** 15 / 75 USD per million tokens, 128k of context. */
function request(more: Partial<CeilingRequest> & { exact?: number } = {}) {
	const counts = { asked: 0 };
	const ceiling: CeilingRequest = {
		promptTokensBound: 1_000,
		promptTokensAtLeast: 100,
		callerMaxTokens: null,
		modelMaxTokens: 128_000,
		contextTokens: 128_000,
		choices: 1,
		inputPrice: picoPerUnit(15, 1_000_000),
		outputPrice: picoPerUnit(75, 1_000_000),
		countPromptTokens: async () => {
			counts.asked++;
			return more.exact ?? 300;
		},
		...more,
	};
	return { ceiling, counts };
}

async function nodeWith(balance: string, limits?: string) {
	const node = testNode();
	node.store.addAccount("a", { usd: usd(balance) });
	node.store.addKey("k", "a", limits === undefined ? {} : { limits: { usd: limits, diem: null, vcu: null } });
	return { ...node, caller: await node.caller("k") };
}

describe("with the maximum unset", () => {
	test("holds the whole possible output and sends nothing, where that fits in half of what is free", async () => {
		const node = await nodeWith("100");
		const { ceiling, counts } = request({ modelMaxTokens: 8_000 });
		const result = await node.budgets.holdCeiling(node.caller, node.context(), ceiling);
		expect(result.spliceMaxTokens).toBeNull();
		expect(result.maxTokens).toBe(8_000);
		expect(result.hold.amount).toBe(usd("0.615"));
		expect(counts.asked).toBe(0);
	});

	test("takes the context's remainder where the model's maximum does not fit into it", async () => {
		const node = await nodeWith("100");
		const result = await node.budgets.holdCeiling(node.caller, node.context(), request().ceiling);
		expect(result.maxTokens).toBe(127_900);
	});

	test("answers a caller with 1 USD and no max_tokens on a dear 128k model", async () => {
		const node = await nodeWith("1");
		const { ceiling, counts } = request();
		const { hold, spliceMaxTokens, maxTokens } = await node.budgets.holdCeiling(node.caller, node.context(), ceiling);
		expect(counts.asked).toBe(1);
		// Half of 1 USD at 75 USD per million.
		expect(spliceMaxTokens).toBe(6_666);
		expect(maxTokens).toBe(6_666);
		expect(hold.amount).toBe(nano(300 * 15_000 + 6_666 * 75_000));
	});

	test("counts exactly only where the bound does not fit, and then holds everything if the count does", async () => {
		const node = await nodeWith("1");
		const dear = { promptTokensBound: 30_000, modelMaxTokens: 1_000 };
		const { ceiling, counts } = request(dear);
		const result = await node.budgets.holdCeiling(node.caller, node.context(), ceiling);
		expect(counts.asked).toBe(1);
		expect([result.spliceMaxTokens, result.maxTokens, result.hold.amount]).toEqual([null, 1_000, usd("0.0795")]);
	});

	test("keeps to what the prompt leaves, where that is less than half", async () => {
		const node = await nodeWith("1");
		const { ceiling } = request({ promptTokensBound: 60_000, exact: 50_000, promptTokensAtLeast: 40_000 });
		const result = await node.budgets.holdCeiling(node.caller, node.context(), ceiling);
		expect(result.spliceMaxTokens).toBe(Math.floor(0.25 / 75e-6));
		expect(result.hold.amount).toBeLessThanOrEqual(usd("1"));
	});

	test("splices no more than the context leaves beside the counted prompt", async () => {
		const node = await nodeWith("1");
		const { ceiling } = request({ contextTokens: 6_000, exact: 700, inputPrice: pico(1), outputPrice: pico(100_000_000) });
		const result = await node.budgets.holdCeiling(node.caller, node.context(), ceiling);
		expect(result.spliceMaxTokens).toBe(5_000);
		const tight = await nodeWith("1");
		const narrow = request({ contextTokens: 6_000, exact: 1_700, promptTokensBound: 2_000, outputPrice: pico(100_000_000) });
		expect((await tight.budgets.holdCeiling(tight.caller, tight.context(), narrow.ceiling)).spliceMaxTokens).toBe(4_300);
	});

	test("divides among the choices", async () => {
		const node = await nodeWith("1");
		const result = await node.budgets.holdCeiling(node.caller, node.context(), request({ choices: 4 }).ceiling);
		expect(result.spliceMaxTokens).toBe(1_666);
		expect(result.hold.amount).toBe(nano(300 * 15_000 + 4 * 1_666 * 75_000));
	});

	test("refuses below 256 tokens of output, and takes 256", async () => {
		const enough = await nodeWith("0.0384");
		const result = await enough.budgets.holdCeiling(enough.caller, enough.context(), request().ceiling);
		expect(result.spliceMaxTokens).toBe(256);
		const short = await nodeWith("0.038399");
		const error = await refused(() => short.budgets.holdCeiling(short.caller, short.context(), request().ceiling));
		expect([error.status, error.code]).toEqual([402, "INSUFFICIENT_BALANCE"]);
		expect(error.message).toContain("256 tokens");
		expect(error.options.retryAfterSeconds).toBeUndefined();
		expect(short.budgets.holdsOpen).toBe(0);
	});

	test("needs no 256 tokens of a model that makes fewer", async () => {
		const node = await nodeWith("0.01");
		const { ceiling } = request({ modelMaxTokens: 50 });
		const result = await node.budgets.holdCeiling(node.caller, node.context(), ceiling);
		expect([result.spliceMaxTokens, result.maxTokens]).toEqual([null, 50]);
		const short = await nodeWith("0.007");
		await refused(() => short.budgets.holdCeiling(short.caller, short.context(), ceiling));
	});

	test("shares an account among parallel requests, and says that the rest is only held", async () => {
		const node = await nodeWith("1");
		const results = await Promise.allSettled(
			Array.from({ length: 20 }, async () => node.budgets.holdCeiling(node.caller, node.context(), request().ceiling)),
		);
		const served = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
		expect(served.length).toBeGreaterThan(2);
		const held = served.reduce((sum, { hold }) => sum + hold.amount, 0);
		expect(held).toBeLessThanOrEqual(usd("1"));
		const error = await refused(() => node.budgets.holdCeiling(node.caller, node.context(), request().ceiling));
		expect(error.options.retryAfterSeconds).toBe(1);
		for (const { hold } of served) hold.void();
		expect(node.budgets.holdsOpen).toBe(0);
	});

	test("sees the room of the key's cap as what is free", async () => {
		const node = await nodeWith("1000", "1");
		const result = await node.budgets.holdCeiling(node.caller, node.context(), request().ceiling);
		expect(result.spliceMaxTokens).toBe(6_666);
		result.hold.post(priced(usd("0.99")));
		const error = await refused(() => node.budgets.holdCeiling(node.caller, node.context(), request().ceiling));
		expect(error.code).toBe("API_KEY_USD_SPEND_LIMIT_EXCEEDED");
	});

	test("uses the cheap bound where nothing can be counted", async () => {
		const node = await nodeWith("1");
		const { ceiling } = request({ countPromptTokens: () => Promise.reject(new Error("the counter died")) });
		const result = await node.budgets.holdCeiling(node.caller, node.context(), ceiling);
		expect(result.hold.amount).toBe(nano(1_000 * 15_000 + 6_666 * 75_000));
	});

	test("a model whose output is free needs the prompt's price only", async () => {
		const node = await nodeWith("0.015");
		const result = await node.budgets.holdCeiling(
			node.caller,
			node.context(),
			request({ outputPrice: pico(0), exact: 1_000 }).ceiling,
		);
		expect([result.spliceMaxTokens, result.hold.amount]).toEqual([null, usd("0.015")]);
	});
});

describe("with the caller's maximum", () => {
	test("holds it in full for each choice, from all that is free, and splices nothing", async () => {
		const node = await nodeWith("1");
		const { ceiling, counts } = request({ callerMaxTokens: 6_000, choices: 2 });
		const result = await node.budgets.holdCeiling(node.caller, node.context(), ceiling);
		expect([result.spliceMaxTokens, result.maxTokens]).toEqual([null, 6_000]);
		expect(result.hold.amount).toBe(usd("0.915"));
		expect(counts.asked).toBe(0);
	});

	test("counts the prompt before it refuses, and names the number that would fit", async () => {
		const node = await nodeWith("1");
		const { ceiling, counts } = request({ callerMaxTokens: 20_000 });
		const error = await refused(() => node.budgets.holdCeiling(node.caller, node.context(), ceiling));
		expect(counts.asked).toBe(1);
		expect([error.status, error.code, error.options.param]).toEqual([402, "INSUFFICIENT_BALANCE", "max_tokens"]);
		const named = Number(/max_tokens: (\d+) would fit/.exec(error.message)?.[1]);
		expect(named).toBe(Math.floor((1 - 300 * 15e-6) / 75e-6));
		const fits = await node.budgets.holdCeiling(node.caller, node.context(), { ...ceiling, callerMaxTokens: named });
		expect(fits.maxTokens).toBe(named);
		fits.hold.void();
		const over = { ...ceiling, callerMaxTokens: named + 1 };
		await refused(() => node.budgets.holdCeiling(node.caller, node.context(), over));
	});

	test("counts the prompt where the store has too little for the cheap bound and grants nothing", async () => {
		const node = await nodeWith("0.02");
		node.store.thrifty = true;
		const { ceiling, counts } = request({ callerMaxTokens: 100 });
		const { hold } = await node.budgets.holdCeiling(node.caller, node.context(), ceiling);
		expect([counts.asked, hold.amount]).toEqual([1, nano(300 * 15_000 + 100 * 75_000)]);
		hold.void();
	});

	test("names what the account has and what would fit, where nothing of it is on this node", async () => {
		const node = await nodeWith("0.02");
		node.store.thrifty = true;
		const { ceiling, counts } = request({ callerMaxTokens: 1_000 });
		const error = await refused(() => node.budgets.holdCeiling(node.caller, node.context(), ceiling));
		expect([counts.asked, error.message]).toEqual([1, expect.stringContaining("0.0200 USD can be spent")]);
		const named = Number(/max_tokens: (\d+) would fit/.exec(error.message)?.[1]);
		expect(named).toBe(Math.floor((0.02 - 300 * 15e-6) / 75e-6));
		const fits = await node.budgets.holdCeiling(node.caller, node.context(), { ...ceiling, callerMaxTokens: named });
		expect(fits.maxTokens).toBe(named);
	});

	test("what the request costs beside its tokens is held with them, and lessens what fits", async () => {
		const besideNano = usd("0.03");
		const node = await nodeWith("0.05");
		const { ceiling } = request({ callerMaxTokens: 100, fixedNano: besideNano });
		const { hold } = await node.budgets.holdCeiling(node.caller, node.context(), ceiling);
		expect(hold.amount).toBe(nano(besideNano + 300 * 15_000 + 100 * 75_000));
		hold.void();
		const error = await refused(() =>
			node.budgets.holdCeiling(node.caller, node.context(), { ...ceiling, callerMaxTokens: 1_000 }),
		);
		expect(error.message).toContain(`max_tokens: ${Math.floor((0.05 - 0.03 - 300 * 15e-6) / 75e-6)} would fit`);
	});

	test("half of what is free bounds an output that nobody asked for, not what stands beside it", async () => {
		const node = await nodeWith("0.07");
		const { ceiling } = request({ fixedNano: usd("0.03") });
		const { hold, maxTokens } = await node.budgets.holdCeiling(node.caller, node.context(), ceiling);
		expect(maxTokens).toBe(Math.floor(0.035 / 75e-6));
		expect(hold.amount).toBe(nano(usd("0.03") + 300 * 15_000 + maxTokens * 75_000));
		hold.void();
	});

	test("of free tokens only what stands beside them is held, and nothing bounds the output", async () => {
		const node = await nodeWith("0.05");
		const free = { inputPrice: picoPerUnit(0, 1), outputPrice: picoPerUnit(0, 1), fixedNano: usd("0.03") };
		const { ceiling } = request(free);
		const { hold, spliceMaxTokens } = await node.budgets.holdCeiling(node.caller, node.context(), ceiling);
		expect([hold.amount, spliceMaxTokens]).toEqual([usd("0.03"), null]);
		await refused(() => node.budgets.holdCeiling(node.caller, node.context(), ceiling));
		hold.void();
	});

	test.each([
		["0", undefined, "INSUFFICIENT_BALANCE"],
		["0.0015", undefined, "INSUFFICIENT_BALANCE"],
		["1", "0", "API_KEY_USD_SPEND_LIMIT_EXCEEDED"],
	] as const)(
		"or without it, nothing is counted where not even the least prompt fits: %s USD, limit %s",
		async (balance, limit, code) => {
			const node = await nodeWith(balance, limit);
			for (const callerMaxTokens of [100, null]) {
				const { ceiling, counts } = request({ callerMaxTokens });
				const error = await refused(() => node.budgets.holdCeiling(node.caller, node.context(), ceiling));
				expect([error.status, error.code, counts.asked]).toEqual([402, code, 0]);
			}
		},
	);

	test("any number is an answer, not a fault", async () => {
		const node = await nodeWith("1");
		for (const callerMaxTokens of [2 ** 53 - 1, 1e12]) {
			const { ceiling } = request({ callerMaxTokens, choices: 8 });
			const error = await refused(() => node.budgets.holdCeiling(node.caller, node.context(), ceiling));
			expect(error.status).toBe(402);
		}
		expect(node.budgets.holdsOpen).toBe(0);
	});

	test("is only a matter of waiting where other requests hold the money", async () => {
		const node = await nodeWith("1");
		await node.budgets.hold(node.caller, node.context(), usd("0.9"));
		const { ceiling } = request({ callerMaxTokens: 6_000 });
		const error = await refused(() => node.budgets.holdCeiling(node.caller, node.context(), ceiling));
		expect(error.options.retryAfterSeconds).toBe(1);
	});
});

test("at price 0 nothing is held, counted or spliced, and a record is posted", async () => {
	const node = await nodeWith("0");
	const { ceiling, counts } = request({ inputPrice: pico(0), outputPrice: pico(0) });
	const result = await node.budgets.holdCeiling(node.caller, node.context(), ceiling);
	expect([result.hold.amount, result.spliceMaxTokens, result.maxTokens]).toEqual([nano(0), null, 127_900]);
	expect(counts.asked).toBe(0);
	result.hold.post(priced(0));
	expect(node.journal.posts).toHaveLength(1);
});

test("a warm caller with money gets a ceiling in the same turn", async () => {
	const node = await nodeWith("100");
	(await node.budgets.hold(node.caller, node.context(), nano(1))).void();
	const result = node.budgets.holdCeiling(node.caller, node.context(), request({ modelMaxTokens: 8_000 }).ceiling);
	expect(result).not.toBeInstanceOf(Promise);
});

describe("the arithmetic", () => {
	test("prices like a line of the ledger wherever that can be held", () => {
		fc.assert(
			fc.property(fc.nat({ max: 2_000_000 }), fc.integer({ min: 1, max: 1_000_000_000_000 }), (units, price) => {
				expect(lineOrMore(units, price)).toBe(lineNano(units, pico(price)));
			}),
		);
		expect(lineOrMore(2 ** 53 - 1, 1_000_000)).toBe(Number.POSITIVE_INFINITY);
	});

	test("never lets the units that money buys cost more than the money, and one more would", () => {
		fc.assert(
			fc.property(fc.nat({ max: 4e15 }), fc.integer({ min: 1_000, max: 1_000_000_000_000 }), (money, price) => {
				const units = unitsFor(money, price);
				expect(lineOrMore(units, price)).toBeLessThanOrEqual(money);
				expect(lineOrMore(units + 1, price)).toBeGreaterThanOrEqual(money);
			}),
		);
	});
});
