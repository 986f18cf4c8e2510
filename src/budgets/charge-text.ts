import { decimalText } from "../wire/index.ts";
import { skuOf } from "./sku.ts";

const PICO_PLACES = 12;
const NANO_PLACES = 9;
const MILLION = 1_000_000;

/** A line of a charge, as the store has it. */
export interface ChargedUnits {
	readonly sku: string;
	readonly units: number;
	/** Price of one unit in pico-USD. */
	readonly picoPrice: number;
	/** In nano-USD. */
	readonly amount: number;
}

/** Returns the price of a sku in USD, per the unit that statements use, like a million tokens: exact, as text. */
export function skuPriceText(sku: string, picoPrice: number): string {
	return decimalText(picoPrice, PICO_PLACES - skuPlaces(sku));
}

/**
 * Returns the decimal places between the stored unit of a sku and the unit of its price: 6 for what is sold by the
 * million.
 */
export function skuPlaces(sku: string): number {
	return Math.round(Math.log10(skuOf(sku).unitsPerPrice));
}

/** Returns a charge in readable form: `113 tokens at 2 USD a million = 0.000226 USD`. */
export function chargeText({ sku, units, picoPrice, amount }: ChargedUnits): string {
	const { unitType, unitsPerPrice } = skuOf(sku);
	const isTime = unitType === "milliseconds";
	const count = isTime ? decimalText(units, 3) : String(units);
	const name = isTime ? "seconds" : unitType;
	const per = unitsPerPrice === MILLION ? "a million" : isTime ? "a second" : "each";
	return `${count} ${count === "1" ? name.slice(0, -1) : name} at ${skuPriceText(sku, picoPrice)} USD ${per} = ${decimalText(amount, NANO_PLACES)} USD`;
}
