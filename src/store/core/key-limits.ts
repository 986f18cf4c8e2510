/** Higher limits of keys are compared as this (9,000,000 USD): nano-USD of 9,999,999,999 USD would not fit 2^53. */
const HIGHEST_LIMIT = 9_000_000_000_000_000;

/**
 * Parses a consumption limit to nano-USD for comparison: decimal text, truncated after nine places and clamped to
 * 9e15. No limit is Infinity. Throws where the text is no amount, so that an unreadable limit never means no limit.
 */
export function limitNano(text: string | null): number {
	if (text === null) return Number.POSITIVE_INFINITY;
	const decimal = /^(\d{1,10})(?:\.(\d*))?$/.exec(text);
	const value = decimal
		? Number(BigInt(decimal[1] ?? "0") * 1_000_000_000n + BigInt((decimal[2] ?? "").slice(0, 9).padEnd(9, "0")))
		: Math.floor(Number(text) * 1e9);
	if (!(value >= 0) || text.trim() === "") throw new RangeError(`not a consumption limit: ${text}`);
	return Math.min(value, HIGHEST_LIMIT);
}
