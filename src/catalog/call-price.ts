import { type PicoPrice, picoPerUnit } from "../ledger/nano.ts";

/** Returns the price of one call in pico-USD from the configured USD, rounded half up. */
export function callPrice(usd: number): PicoPrice {
	return picoPerUnit(usd, 1);
}
