import type { ChargeLine, TokenUsage } from "../budgets/port.ts";
import type { TextModel, TextPrices } from "../catalog/types.ts";

type PicoPrice = ChargeLine["picoPrice"];

/**
 * Returns the lines of a chat charge (docs/chat.md): prompt tokens without the cached ones, cached, cache writes,
 * completion (reasoning included, all choices). Above the extended threshold the extended rates apply to the whole
 * request. Lines of zero units are omitted.
 * @param rated the prompt tokens to compare with that threshold, where the usage is of several calls
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

/** Returns the rates of a request with this number of prompt tokens. */
function ratesFor(prices: TextPrices, promptTokens: number): Omit<TextPrices, "extended"> {
	const { extended } = prices;
	return extended !== undefined && promptTokens > extended.thresholdTokens ? extended : prices;
}

/** Returns the highest price of a prompt token and of an output token for a prompt of at most this many tokens. */
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
