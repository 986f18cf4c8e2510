import { lineNano } from "../ledger/nano.ts";
import type { TextModel } from "./types.ts";

/**
 * Returns the price of the cheapest request to any charged model: one token in and one out, nano-USD. 0 if no model is charged.
 */
export function leastTextPrice(models: readonly TextModel[]): number {
	const prices = models.map(({ prices }) => lineNano(1, prices.input) + lineNano(1, prices.output)).filter((price) => price > 0);
	return prices.length === 0 ? 0 : Math.min(...prices);
}
