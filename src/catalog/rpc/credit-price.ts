import { lineNano, type Nano, type PicoPrice, picoPerUnit } from "../../ledger/nano.ts";

/** Returns the price of a credit in pico-USD from the configured USD, rounded half up. */
export function creditPrice(usd: number): PicoPrice {
	return picoPerUnit(usd, 1);
}

/** Returns the price of a number of credits in nano-USD, rounded half up like the line of a charge. */
export function creditsNano(credits: number, price: PicoPrice): Nano {
	return lineNano(credits, price);
}
