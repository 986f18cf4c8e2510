/**
 * Returns a whole number of 10^-places, 0 or more, as exact decimal text without trailing zeros: `decimalText(1500, 3)`
 * is `1.5`.
 */
export function decimalText(value: number, places: number): string {
	const digits = BigInt(value)
		.toString()
		.padStart(places + 1, "0");
	if (places === 0) return digits;
	const fraction = digits.slice(-places).replace(/0+$/, "");
	const whole = digits.slice(0, -places);
	return fraction === "" ? whole : `${whole}.${fraction}`;
}
