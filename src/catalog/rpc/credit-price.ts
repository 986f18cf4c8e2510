import { lineNano, type Nano, type PicoPrice, picoPerUnit } from "../../ledger/nano.ts";

/** The price of a credit in pico-USD, from the configuration's USD; rounded half up to a pico-USD. */
export function creditPrice(usd: number): PicoPrice {
	return picoPerUnit(usd, 1);
}

/** What so many credits cost, in nano-USD: rounded half up, as the line of a charge is. */
export function creditsNano(credits: number, price: PicoPrice): Nano {
	return lineNano(credits, price);
}
