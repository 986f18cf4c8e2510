import type { ChargeLine, TokenUsage } from "../budgets/port.ts";
import type { TextModel, TextPrices } from "../catalog/types.ts";

type PicoPrice = ChargeLine["picoPrice"];

/**
 * The lines of a chat charge (docs/chat.md): prompt tokens without the cached ones, cached, cache writes,
 * completion (reasoning included, all choices). Above the extended threshold the extended rates hold for the
 * whole request. Lines of no units are left out. `rated`: the prompt that is compared with that threshold, where
 * the usage is of several calls.
 */
export function chatLines(model: TextModel, usage: TokenUsage, rated = usage.promptTokens): ChargeLine[] {
	const rates = ratesFor(model.prices, rated);
	const cached = Math.min(usage.cachedTokens, usage.promptTokens);
	const written = Math.min(usage.cacheWriteTokens, usage.promptTokens - cached);
	const lines: ChargeLine[] = [];
	const add = (kind: string, units: number, picoPrice: ChargeLine["picoPrice"]): void => {
		if (units > 0) lines.push({ sku: `${model.id}-llm-${kind}-mtoken`, units, picoPrice });
	};
	add("input", usage.promptTokens - cached - written, rates.input);
	add("cache-input", cached, rates.cacheInput ?? rates.input);
	add("cache-write", written, rates.cacheWrite ?? rates.input);
	add("output", usage.completionTokens, rates.output);
	return lines;
}

/** The rates of a request with so many prompt tokens. */
function ratesFor(prices: TextPrices, promptTokens: number): Omit<TextPrices, "extended"> {
	const { extended } = prices;
	return extended !== undefined && promptTokens > extended.thresholdTokens ? extended : prices;
}

/** The dearest that a prompt token and an output token can cost when the prompt has at most so many tokens. */
export function highestRates(prices: TextPrices, promptTokensAtMost: number): { input: PicoPrice; output: PicoPrice } {
	const { extended } = prices;
	const sets = extended !== undefined && promptTokensAtMost > extended.thresholdTokens ? [prices, extended] : [prices];
	return {
		input: dearest(sets.flatMap((rates) => [rates.input, rates.cacheInput ?? rates.input, rates.cacheWrite ?? rates.input])),
		output: dearest(sets.map((rates) => rates.output)),
	};
}

function dearest(prices: readonly PicoPrice[]): PicoPrice {
	let most = 0 as PicoPrice;
	for (const price of prices) if (price > most) most = price;
	return most;
}
