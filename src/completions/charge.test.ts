import { expect, test } from "bun:test";
import type { TokenUsage } from "../budgets/port.ts";
import type { TextModel } from "../catalog/types.ts";
import { chatLines, highestRates } from "./charge.ts";

type PicoPrice = TextModel["prices"]["input"];
/** Pico-USD per token, of USD per million tokens. */
const per = (usd: number) => Math.round(usd * 1_000_000) as PicoPrice;
const usage = (part: Partial<TokenUsage>): TokenUsage => ({
	promptTokens: 0,
	completionTokens: 0,
	cachedTokens: 0,
	cacheWriteTokens: 0,
	reasoningTokens: 0,
	counted: false,
	...part,
});
const model = (prices: TextModel["prices"]) => ({ id: "m", prices }) as TextModel;

test("prompt without cached, cached, written and completion are lines of their own", () => {
	const lines = chatLines(
		model({ input: per(1), output: per(4), cacheInput: per(0.2), cacheWrite: per(1.25) }),
		usage({ promptTokens: 100, cachedTokens: 40, cacheWriteTokens: 10, completionTokens: 7 }),
	);
	expect(lines).toEqual([
		{ sku: "m-llm-input-mtoken", units: 50, picoPrice: per(1) },
		{ sku: "m-llm-cache-input-mtoken", units: 40, picoPrice: per(0.2) },
		{ sku: "m-llm-cache-write-mtoken", units: 10, picoPrice: per(1.25) },
		{ sku: "m-llm-output-mtoken", units: 7, picoPrice: per(4) },
	]);
});

test("without cache prices cached tokens cost the input price", () => {
	expect(chatLines(model({ input: per(1), output: per(4) }), usage({ promptTokens: 10, cachedTokens: 4 }))).toEqual([
		{ sku: "m-llm-input-mtoken", units: 6, picoPrice: per(1) },
		{ sku: "m-llm-cache-input-mtoken", units: 4, picoPrice: per(1) },
	]);
});

test("an upstream that claims more cached tokens than prompt tokens never makes a negative line", () => {
	for (const line of chatLines(
		model({ input: per(1), output: per(4) }),
		usage({ promptTokens: 10, cachedTokens: 40, cacheWriteTokens: 5 }),
	))
		expect(line.units).toBeGreaterThan(0);
});

test("above the threshold the extended rates hold for the whole request, and the hold knows", () => {
	const prices = { input: per(1), output: per(4), extended: { thresholdTokens: 200, input: per(2), output: per(8) } };
	expect(chatLines(model(prices), usage({ promptTokens: 200, completionTokens: 1 })).map((line) => line.picoPrice)).toEqual([
		per(1),
		per(4),
	]);
	expect(chatLines(model(prices), usage({ promptTokens: 201, completionTokens: 1 })).map((line) => line.picoPrice)).toEqual([
		per(2),
		per(8),
	]);
	expect(highestRates(prices, 200)).toEqual({ input: per(1), output: per(4) });
	expect(highestRates(prices, 201)).toEqual({ input: per(2), output: per(8) });
});
