import { NANO_PER_USD, parseNano } from "../../ledger/nano.ts";

/** The most that an account gets for a day: 1,000,000 diem, also the most that the operator may set. */
export const MAX_STAKE_NANO = 1_000_000 * NANO_PER_USD;

export interface StakeRate {
	/** Decimals of the token. */
	readonly decimals: number;
	/** Diem a day for one whole token: decimal text. */
	readonly diemPerToken: string;
}

/**
 * Returns the daily diem of a stake in the token's smallest units, in nano-diem: rounded down, never above `MAX_STAKE_NANO`.
 */
export function nanoDiemOf(units: bigint, { decimals, diemPerToken }: StakeRate): number {
	const rate = parseNano(diemPerToken);
	if (rate === undefined) throw new RangeError(`not an amount: ${diemPerToken}`);
	const nano = (units * BigInt(rate)) / 10n ** BigInt(decimals);
	return nano > BigInt(MAX_STAKE_NANO) ? MAX_STAKE_NANO : Number(nano);
}
