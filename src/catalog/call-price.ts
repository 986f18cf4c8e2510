import { type PicoPrice, picoPerUnit } from "../ledger/nano.ts";

/** The price of one call in pico-USD, from the configuration's USD; rounded half up to a pico-USD. */
export function callPrice(usd: number): PicoPrice {
	return picoPerUnit(usd, 1);
}
