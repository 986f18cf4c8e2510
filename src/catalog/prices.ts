import { addNano, lineNano, type Nano, nano, type PicoPrice, picoPerUnit } from "../ledger/nano.ts";
import type { TextModel } from "./types.ts";

/** Returns the price of one call in pico-USD from the configured USD, rounded half up. */
export function callPrice(usd: number): PicoPrice {
	return picoPerUnit(usd, 1);
}

/**
 * Returns the price of the cheapest request to any charged model: one token in and one out, nano-USD. 0 if no model is charged.
 */
export function leastTextPrice(models: readonly TextModel[]): number {
	const prices = models.map(({ prices }) => lineNano(1, prices.input) + lineNano(1, prices.output)).filter((price) => price > 0);
	return prices.length === 0 ? 0 : Math.min(...prices);
}

/** Returns the price of a number of units in nano-USD, rounded half up like the line of a charge. */
export function unitsNano(units: number, price: PicoPrice): Nano {
	return lineNano(units, price);
}

/** Returns the sum of a charge's lines in nano-USD; each line is rounded half up, as it is posted. */
export function linesNano(lines: readonly { readonly units: number; readonly picoPrice: PicoPrice }[]): Nano {
	return lines.reduce((sum, { units, picoPrice }) => addNano(sum, lineNano(units, picoPrice)), nano(0));
}
