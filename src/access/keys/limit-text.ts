/** Places behind the point that amounts have: nano-USD. */
const PLACES = 9;

/**
 * A limit as it is stored: decimal text without an exponent, cut (never rounded up) after nine places.
 * @param value finite, not negative
 */
export function limitText(value: number): string {
	const [mantissa = "0", exponent] = String(value).split("e");
	const [whole = "0", fraction = ""] = mantissa.split(".");
	if (exponent === undefined) return joined(whole, fraction);
	// Numbers below 1e-6; those from 1e21 on are above every limit.
	const zeros = "0".repeat(Math.max(0, -Number(exponent) - 1));
	return joined("0", `${zeros}${whole}${fraction}`);
}

function joined(whole: string, fraction: string): string {
	const kept = fraction.slice(0, PLACES).replace(/0+$/, "");
	return kept === "" ? whole : `${whole}.${kept}`;
}
