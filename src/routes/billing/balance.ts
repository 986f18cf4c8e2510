import Type from "typebox";
import { maySpend } from "../../access/index.ts";
import { type AccountBalance, NANO_PER_USD } from "../../budgets/index.ts";
import { named } from "../../schema/named-schema.ts";
import type { Call } from "../../server/call.ts";
import { type Answer, json } from "../../server/endpoint.ts";
import { type BillingParts, callerOf } from "./parts.ts";

export const BalanceSchema = named(
	"Balance",
	Type.Object({
		canConsume: Type.Boolean({ description: "The account has money, of a currency whose limit this key has not reached" }),
		consumptionCurrency: Type.Union([Type.Enum(["USD", "VCU", "DIEM", "BUNDLED_CREDITS"]), Type.Null()], {
			description: "What this key is charged in next",
		}),
		balances: Type.Object({
			diem: Type.Union([Type.Number(), Type.Null()], { description: "Left of today's; null: nothing is staked" }),
			usd: Type.Union([Type.Number(), Type.Null()], { description: "Bundled credit included" }),
			bundledCredits: Type.Number({ description: "The part of usd that is bundled credit" }),
		}),
		diemEpochAllocation: Type.Number({ description: "Today's diem at its start" }),
	}),
);

/** GET /billing/balance: what the account has, and what the key that asks is charged in next. */
export async function balance(call: Call, { statements }: BillingParts): Promise<Answer> {
	const { account, key } = callerOf(call);
	const money = await statements.balance({ accountId: account.id, keyId: key.id, nowMs: call.admittedAtMs });
	const currency = nextCurrency(money);
	return json({
		canConsume: currency !== null,
		consumptionCurrency: currency,
		balances: {
			diem: money.diem === null ? null : money.diem / NANO_PER_USD,
			usd: (money.usd + money.bundled) / NANO_PER_USD,
			bundledCredits: money.bundled / NANO_PER_USD,
		},
		diemEpochAllocation: money.diemAllotted / NANO_PER_USD,
	});
}

/** The spending order is diem, bundled credit, USD (docs/money.md). */
function nextCurrency({ key, diem, bundled, usd }: AccountBalance): "DIEM" | "BUNDLED_CREDITS" | "USD" | null {
	if (maySpend(key, { diem: diem ?? 0, usd: 0 })) return "DIEM";
	if (maySpend(key, { diem: 0, usd: bundled })) return "BUNDLED_CREDITS";
	return maySpend(key, { diem: 0, usd }) ? "USD" : null;
}
