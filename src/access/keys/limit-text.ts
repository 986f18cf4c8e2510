/** Decimal places of amounts: nano-USD. */
const PLACES = 9;

/**
 * Returns a limit as it is stored: decimal text without an exponent, truncated (never rounded up) after nine places.
 * @param value finite, not negative
 */
export function limitText(value: number): string {
	const [mantissa = "0", exponent] = String(value).split("e");
	const [integer = "0", fraction = ""] = mantissa.split(".");
	if (exponent === undefined) return joinDigits(integer, fraction);
	// Numbers below 1e-6 have an exponent; so do those from 1e21 on, which are above every limit.
	const zeros = "0".repeat(Math.max(0, -Number(exponent) - 1));
	return joinDigits("0", `${zeros}${integer}${fraction}`);
}

function joinDigits(integer: string, fraction: string): string {
	const places = fraction.slice(0, PLACES).replace(/0+$/, "");
	return places === "" ? integer : `${integer}.${places}`;
}
