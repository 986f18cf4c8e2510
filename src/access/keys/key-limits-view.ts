import Type from "typebox";
import { NANO_PER_USD, parseNano } from "../../ledger/nano.ts";
import { closed } from "../../schema/closed.ts";
import type { KeyWithUsage } from "../../store/admin/key-usage.ts";
import { windowDays } from "../../store/core/caller-rows.ts";
import type { KeyLimits } from "../../store/port.ts";
import { LimitPeriodSchema } from "./key-fields.ts";

/** Limits above this value are compared as this value, in nano-USD (9,000,000 USD). */
const HIGHEST_LIMIT = 9_000_000_000_000_000n;
const DAY_MS = 86_400_000;

/** A limit of the calling key in its current period. */
export const KeyLimitSchema = closed({
	currency: Type.Enum(["USD", "DIEM"], { description: "USD covers bundled credit" }),
	period: LimitPeriodSchema,
	amount: Type.Number({ description: "The limit" }),
	used: Type.Number({ description: "What this key spent in the period" }),
	left: Type.Number({ description: "The rest of the limit. The account may have less" }),
	resetsAt: Type.Union([Type.String({ format: "date-time" }), Type.Null()], {
		description: "When the period ends. null: never",
	}),
});

type KeyWithPeriod = Pick<KeyWithUsage, "key" | "currentPeriod">;

interface Balances {
	readonly usd: number;
	readonly diem: number;
}

/**
 * Returns what the key can spend now, in nano-USD, a diem being a USD: the account's balance of each currency, capped by the
 * key's limit. `usd` covers bundled credit.
 */
export function spendableNano(standing: KeyWithPeriod, balances: Balances): number {
	return spendableOf("usd", standing, balances) + spendableOf("diem", standing, balances);
}

function spendableOf(currency: keyof Balances, standing: KeyWithPeriod, balances: Balances): number {
	const remainingNano = leftOf(currency, standing);
	return remainingNano === null ? balances[currency] : Math.min(balances[currency], Number(remainingNano));
}

/** Returns the key's limits in their current period; none for a key without limits. A limit in VCU is never counted. */
export function keyLimitsView(standing: KeyWithPeriod, nowMs: number) {
	const { limits, limitPeriod } = standing.key;
	const { last } = windowDays(limitPeriod, Math.floor(nowMs / DAY_MS));
	const resetsAt = limitPeriod === "LIFETIME" ? null : new Date((last + 1) * DAY_MS).toISOString();
	return (["usd", "diem"] as const).flatMap((currency) => {
		const remainingNano = leftOf(currency, standing);
		if (remainingNano === null) return [];
		const used = Number(standing.currentPeriod?.[currency] ?? 0n) / NANO_PER_USD;
		const amount = Number(limits[currency]);
		return [
			{
				currency: currency.toUpperCase(),
				period: limitPeriod,
				amount,
				used,
				left: Number(remainingNano) / NANO_PER_USD,
				resetsAt,
			},
		];
	});
}

/** Returns the remainder of the key's limit of a currency, in nano; null without a limit. */
function leftOf(currency: keyof Balances & keyof KeyLimits, { key, currentPeriod }: KeyWithPeriod): bigint | null {
	const limit = key.limits[currency];
	if (limit === null) return null;
	const entered = parseNano(limit);
	const compared = entered === undefined ? HIGHEST_LIMIT : BigInt(entered);
	const remainingNano = (compared < HIGHEST_LIMIT ? compared : HIGHEST_LIMIT) - (currentPeriod?.[currency] ?? 0n);
	return remainingNano > 0n ? remainingNano : 0n;
}
