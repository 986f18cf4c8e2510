import { compact } from "./quantity.ts";

/**
 * Formats a decimal amount: thousands separated, at least two places, nothing rounded. `tail` has the places after the second,
 * so that a table can de-emphasise them.
 */
export function amountParts(amount: string): {
	readonly sign: string;
	readonly whole: string;
	readonly cents: string;
	readonly tail: string;
} {
	const match = /^(-?)(\d+)(?:\.(\d*))?$/.exec(amount);
	if (match === null) return { sign: "", whole: amount, cents: "", tail: "" };
	const [, sign = "", whole = "0", places = ""] = match;
	const decimals = places.replace(/0+$/, "").padEnd(2, "0");
	return { sign, whole: whole.replace(/\B(?=(\d{3})+$)/g, ","), cents: `.${decimals.slice(0, 2)}`, tail: decimals.slice(2) };
}

/** Returns the same as one text, for titles, charts and screen readers: `1,234.5601`. */
export function amountText(amount: string): string {
	const { sign, whole, cents, tail } = amountParts(amount);
	return `${sign}${whole}${cents}${tail}`;
}

/** Formats a chart's float as dollars, exact to the ninth place below four million. */
export const dollars = (value: number): string => `$${amountText(value.toFixed(9))}`;

/** Formats dollars for an axis: `$1.2K`, `$0.0003`. */
export const shortDollars = (value: number): string => `$${value < 1_000 ? Number(value.toPrecision(4)) : compact(value)}`;

/** Returns true if an amount is zero, in any notation. */
export const isZero = (amount: string): boolean => /^-?0*(?:\.0*)?$/.test(amount);

/** Returns the sum of decimal texts, exact to the ninth place. */
export function sumOf(amounts: readonly string[]): string {
	const total = amounts.reduce((sum, amount) => sum + nanoOf(amount), 0n);
	const digits = (total < 0n ? -total : total).toString().padStart(10, "0");
	return `${total < 0n ? "-" : ""}${digits.slice(0, -9)}.${digits.slice(-9)}`;
}

function nanoOf(amount: string): bigint {
	const negative = amount.startsWith("-");
	const [whole = "0", places = ""] = amount.replace("-", "").split(".");
	const value = BigInt(whole) * 1_000_000_000n + BigInt(places.padEnd(9, "0").slice(0, 9));
	return negative ? -value : value;
}
