/** Words of 32 bytes, as the chain's contracts encode them, in hex without 0x. */

/** Pads a number, a decimal text, or an address or hash in hex to a word. Throws `RangeError` where it does not fit. */
export function word(value: number | string): string {
	const digits = typeof value === "string" && value.startsWith("0x") ? value.slice(2).toLowerCase() : BigInt(value).toString(16);
	if (digits.length > 64) throw new RangeError("more than 32 bytes");
	return digits.padStart(64, "0");
}

/** Returns a number of at most 2^53-1 from a node's answer; null for anything else. */
export function wholeOf(answer: unknown): number | null {
	if (typeof answer !== "string" || !/^0x[0-9a-fA-F]{1,64}$/.test(answer)) return null;
	const value = Number(BigInt(answer));
	return Number.isSafeInteger(value) ? value : null;
}

/** Returns true if a word of 32 bytes is 1. */
export function isTrue(answer: unknown): boolean {
	return typeof answer === "string" && /^0x0{63}1$/.test(answer);
}
