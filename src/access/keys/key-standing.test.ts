import { expect, test } from "bun:test";
import type { KeyLimits } from "../../store/port.ts";
import { maySpend } from "./key-standing.ts";

const NANO = 1_000_000_000n;

function key(limits: Partial<KeyLimits>, usd = 0n, diem = 0n) {
	return {
		key: {
			id: "k",
			accountId: "a",
			type: "INFERENCE" as const,
			last6: "abcdef",
			description: "",
			limits: { usd: null, diem: null, vcu: null, ...limits },
			limitPeriod: "EPOCH" as const,
			restrictions: null,
			createdAtMs: 0,
			expiresAtMs: null,
			lastUsedAtMs: null,
		},
		currentPeriod: { usd, diem },
	};
}

test("without limits the money alone decides", () => {
	expect(maySpend(key({}), { usd: 0, diem: 0 })).toBe(false);
	expect(maySpend(key({}), { usd: 1, diem: 0 })).toBe(true);
	expect(maySpend(key({}), { usd: 0, diem: 1 })).toBe(true);
});

test("a limit that is reached, or 0, stops its own currency only", () => {
	expect(maySpend(key({ usd: "1.5" }, (NANO * 3n) / 2n - 1n), { usd: 1, diem: 0 })).toBe(true);
	expect(maySpend(key({ usd: "1.5" }, (NANO * 3n) / 2n), { usd: 1, diem: 0 })).toBe(false);
	expect(maySpend(key({ usd: "0" }), { usd: 1, diem: 1 })).toBe(true);
	expect(maySpend(key({ usd: "0", diem: "0" }), { usd: 1, diem: 1 })).toBe(false);
	expect(maySpend(key({ vcu: "0" }), { usd: 1, diem: 0 })).toBe(true);
});

test("limits are compared as at most 9,000,000", () => {
	for (const usd of ["9000000", "9000000.5", "9999999999", "9999999999.999999999"]) {
		expect(maySpend(key({ usd }, 9_000_000n * NANO - 1n), { usd: 1, diem: 0 })).toBe(true);
		expect(maySpend(key({ usd }, 9_000_000n * NANO), { usd: 1, diem: 0 })).toBe(false);
	}
});
