import { lineNano } from "../ledger/nano.ts";
import type { TextModel } from "./types.ts";

/** Returns what the cheapest request costs that any of these models charges for: a token in and one out, nano-USD. 0 without one. */
export function leastTextPrice(models: readonly TextModel[]): number {
	const prices = models.map(({ prices }) => lineNano(1, prices.input) + lineNano(1, prices.output)).filter((price) => price > 0);
	return prices.length === 0 ? 0 : Math.min(...prices);
}
