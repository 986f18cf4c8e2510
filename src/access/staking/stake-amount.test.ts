import { expect, test } from "bun:test";
import { MAX_STAKE_NANO, nanoDiemOf } from "./stake-amount.ts";

const E18 = 10n ** 18n;

test.each([
	[5n * E18, 18, "1", 5_000_000_000],
	[1n, 18, "1", 0],
	[10n ** 9n, 18, "1", 1],
	[10n ** 9n - 1n, 18, "1", 0],
	[E18, 18, "0.1", 100_000_000],
	[E18, 18, "0.000000001", 1],
	[7n, 0, "2.5", 17_500_000_000],
	[123_456_789n, 6, "1", 123_456_789_000],
	[10n ** 77n, 77, "1", 1_000_000_000],
	[0n, 18, "1", 0],
	[9_007_199_254_740_993n * E18, 18, "1", MAX_STAKE_NANO],
	[2n ** 256n - 1n, 0, "999999.999999999", MAX_STAKE_NANO],
	[1_000_000n * E18, 18, "1", MAX_STAKE_NANO],
	[1_000_000n * E18 - 10n ** 9n, 18, "1", MAX_STAKE_NANO - 1],
] as const)("%p units of %p decimals at %p a token are %p nano-diem", (units, decimals, diemPerToken, expected) => {
	expect(nanoDiemOf(units, { decimals, diemPerToken })).toBe(expected);
});
