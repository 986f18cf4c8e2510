import { decimalText } from "../wire/index.ts";
import { skuOf } from "./sku.ts";

const PICO_PLACES = 12;
const NANO_PLACES = 9;
const MILLION = 1_000_000;

/** A line of a charge, as the books have it. */
export interface ChargedUnits {
	readonly sku: string;
	readonly units: number;
	/** pico-USD of one unit. */
	readonly picoPrice: number;
	/** nano-USD. */
	readonly amount: number;
}

/** USD for what statements give the price of a sku for, like a million tokens: exact, as text. */
export function skuPriceText(sku: string, picoPrice: number): string {
	return decimalText(picoPrice, PICO_PLACES - skuPlaces(sku));
}

/** Places by which the books' units of a sku differ from those of its price: 6 for what is sold by the million. */
export function skuPlaces(sku: string): number {
	return Math.round(Math.log10(skuOf(sku).unitsPerPrice));
}

/** A charge as one reads it: `113 tokens at 2 USD a million = 0.000226 USD`. */
export function chargeText({ sku, units, picoPrice, amount }: ChargedUnits): string {
	const { unitType, unitsPerPrice } = skuOf(sku);
	const isTime = unitType === "milliseconds";
	const count = isTime ? decimalText(units, 3) : String(units);
	const name = isTime ? "seconds" : unitType;
	const per = unitsPerPrice === MILLION ? "a million" : isTime ? "a second" : "each";
	return `${count} ${count === "1" ? name.slice(0, -1) : name} at ${skuPriceText(sku, picoPrice)} USD ${per} = ${decimalText(amount, NANO_PLACES)} USD`;
}
