import { NANO_PER_USD, parseNano } from "../../ledger/nano.ts";

/** The most that an account is given for a day: 1,000,000 diem, as the operator may set at most. */
export const MAX_STAKE_NANO = 1_000_000 * NANO_PER_USD;

export interface StakeRate {
	/** Of the token. */
	readonly decimals: number;
	/** Diem a day for one whole token: decimal text. */
	readonly diemPerToken: string;
}

/** What a stake in the token's smallest units gives a day, in nano-diem: rounded down, never above `MAX_STAKE_NANO`. */
export function nanoDiemOf(units: bigint, { decimals, diemPerToken }: StakeRate): number {
	const rate = parseNano(diemPerToken);
	if (rate === undefined) throw new RangeError(`not an amount: ${diemPerToken}`);
	const nano = (units * BigInt(rate)) / 10n ** BigInt(decimals);
	return nano > BigInt(MAX_STAKE_NANO) ? MAX_STAKE_NANO : Number(nano);
}
