/**
 * Money as integers. An amount is a `Nano`: 1e-9 USD (or 1e-9 diem; one diem is one USD of use), never
 * negative, never above 2^53-1. A price is an integer of pico-USD (1e-12 USD) per unit. Floats appear only
 * at the JSON edge.
 */
declare const nanoBrand: unique symbol;
export type Nano = number & { readonly [nanoBrand]: true };

declare const picoBrand: unique symbol;
/** Price of one unit (a token, a character, a credit) in 1e-12 USD. */
export type PicoPrice = number & { readonly [picoBrand]: true };

export const NANO_PER_USD = 1_000_000_000;
export const ZERO = 0 as Nano;

/** Thrown if an amount violates the rules of this file: a fault of our code, never of the caller's input. */
export class MoneyError extends Error {
	override readonly name = "MoneyError";
}

/** Checks that a number is an integer from 0 to 2^53-1. Throws `MoneyError`. */
export function nano(value: number): Nano {
	if (!Number.isSafeInteger(value) || value < 0) throw new MoneyError(`not an amount of nano-USD: ${value}`);
	return value as Nano;
}

export function addNano(a: Nano, b: Nano): Nano {
	return nano(a + b);
}

/** Checks a price per unit in pico-USD. Throws `MoneyError` unless it is an integer from 0 to 2^53-1. */
export function pico(value: number): PicoPrice {
	if (!Number.isSafeInteger(value) || value < 0) throw new MoneyError(`not a price in pico-USD: ${value}`);
	return value as PicoPrice;
}

/**
 * Returns the pico-USD price of one unit, from a USD price for `perUnits` units (prices of text models are per
 * 1,000,000 tokens). Rounds half up to a pico-USD.
 */
export function picoPerUnit(usd: number, perUnits: number): PicoPrice {
	return pico(Math.round((usd * 1e12) / perUnits));
}

/** Returns the price of one line: units x price, rounded half up to a nano-USD once. Units are an integer >= 0. */
export function lineNano(units: number, price: PicoPrice): Nano {
	if (!Number.isSafeInteger(units) || units < 0) throw new MoneyError(`not a number of units: ${units}`);
	const product = units * price;
	if (product <= Number.MAX_SAFE_INTEGER - 500) return nano(Math.floor((product + 500) / 1000));
	return nano(Number((BigInt(units) * BigInt(price) + 500n) / 1000n));
}

const DECIMAL = /^(\d{1,10})(?:\.(\d{1,9}))?$/;

/**
 * Parses an amount from decimal text: digits, at most 9 places, no sign, no exponent.
 * @returns undefined if the text is not such a number or passes 2^53-1 nano.
 */
export function parseNano(text: string): Nano | undefined {
	const match = DECIMAL.exec(text);
	if (!match) return undefined;
	const value = BigInt(match[1] ?? "0") * 1_000_000_000n + BigInt((match[2] ?? "").padEnd(9, "0"));
	return value <= BigInt(Number.MAX_SAFE_INTEGER) ? nano(Number(value)) : undefined;
}

/**
 * Returns the exact decimal text of an amount, with at least `minPlaces` and at most 9 places:
 * `formatNano(1500000000)` is `1.5000`.
 */
export function formatNano(amount: number | bigint, minPlaces = 4): string {
	if (typeof amount === "number" && amount >= 0) {
		const whole = Math.floor(amount / NANO_PER_USD);
		return `${whole}${fractionText(String(amount - whole * NANO_PER_USD).padStart(9, "0"), minPlaces)}`;
	}
	const value = BigInt(amount);
	const abs = value < 0n ? -value : value;
	const fraction = fractionText((abs % 1_000_000_000n).toString().padStart(9, "0"), minPlaces);
	return `${value < 0n ? "-" : ""}${abs / 1_000_000_000n}${fraction}`;
}

/** Returns nine digits behind the point, with trailing zeros cut down to `minPlaces`. */
function fractionText(digits: string, minPlaces: number): string {
	let end = 9;
	while (end > minPlaces && digits.charCodeAt(end - 1) === 48) end--;
	return end === 0 ? "" : `.${digits.slice(0, end)}`;
}
