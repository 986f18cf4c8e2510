import { expect, test } from "bun:test";
import type { KeyLimits } from "../../store/port.ts";
import { keyLimitsView, spendableNano } from "./key-limits-view.ts";

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
	expect(spendableNano(key({}), { usd: 0, diem: 0 })).toBe(0);
	expect(spendableNano(key({}), { usd: 1, diem: 0 })).toBe(1);
	expect(spendableNano(key({}), { usd: 3, diem: 4 })).toBe(7);
});

test("a limit leaves of its own currency what is not used of it", () => {
	expect(spendableNano(key({ usd: "1.5" }, (NANO * 3n) / 2n - 1n), { usd: 5, diem: 0 })).toBe(1);
	expect(spendableNano(key({ usd: "1.5" }, NANO * 2n), { usd: 5, diem: 0 })).toBe(0);
	expect(spendableNano(key({ usd: "0" }), { usd: 1, diem: 2 })).toBe(2);
	expect(spendableNano(key({ usd: "0", diem: "0" }), { usd: 1, diem: 1 })).toBe(0);
	expect(spendableNano(key({ vcu: "0" }), { usd: 1, diem: 0 })).toBe(1);
});

test("limits are compared as at most 9,000,000", () => {
	for (const usd of ["9000000", "9000000.5", "9999999999", "9999999999.999999999"]) {
		expect(spendableNano(key({ usd }, 9_000_000n * NANO - 1n), { usd: 7, diem: 0 })).toBe(1);
		expect(spendableNano(key({ usd }, 9_000_000n * NANO), { usd: 7, diem: 0 })).toBe(0);
	}
});

test("limits are told with what is used and left, and when the period ends", () => {
	const now = Date.UTC(2026, 1, 10, 12);
	expect(keyLimitsView(key({}), now)).toEqual([]);
	const limited = key({ usd: "1.5", diem: "0.25" }, NANO, NANO);
	const usd = {
		currency: "USD",
		period: "EPOCH" as const,
		amount: 1.5,
		used: 1,
		left: 0.5,
		resetsAt: "2026-02-11T00:00:00.000Z",
	};
	expect(keyLimitsView(limited, now)).toEqual([usd, { ...usd, currency: "DIEM", amount: 0.25, left: 0 }]);
	const resets = (limitPeriod: "MONTH" | "LIFETIME") =>
		keyLimitsView({ ...limited, key: { ...limited.key, limitPeriod } }, now)[0]?.resetsAt;
	expect([resets("MONTH"), resets("LIFETIME")]).toEqual(["2026-03-01T00:00:00.000Z", null]);
});
