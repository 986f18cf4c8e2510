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

/** A charge as one reads it: `113 tokens at 2 USD a million = 0.000226 USD`. */
export function chargeText({ sku, units, picoPrice, amount }: ChargedUnits): string {
	const { unitType, unitsPerPrice } = skuOf(sku);
	const price = decimalText(picoPrice, PICO_PLACES - Math.round(Math.log10(unitsPerPrice)));
	const isTime = unitType === "milliseconds";
	const count = isTime ? decimalText(units, 3) : String(units);
	const name = isTime ? "seconds" : unitType;
	const per = unitsPerPrice === MILLION ? "a million" : isTime ? "a second" : "each";
	return `${count} ${count === "1" ? name.slice(0, -1) : name} at ${price} USD ${per} = ${decimalText(amount, NANO_PLACES)} USD`;
}
