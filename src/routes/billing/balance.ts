import Type from "typebox";
import { mayUseModel, spendableNano } from "../../access/index.ts";
import { type AccountBalance, NANO_PER_USD } from "../../budgets/index.ts";
import { leastTextPrice } from "../../catalog/index.ts";
import { named } from "../../schema/named-schema.ts";
import type { Call } from "../../server/call.ts";
import { type Answer, json } from "../../server/endpoint.ts";
import { type BillingDeps, callerOf } from "./deps.ts";

export const BalanceSchema = named(
	"Balance",
	Type.Object({
		canConsume: Type.Boolean({
			description: "true: the account's money, within the limits of this key, pays for the cheapest chat",
		}),
		consumptionCurrency: Type.Union([Type.Enum(["USD", "VCU", "DIEM", "BUNDLED_CREDITS"]), Type.Null()], {
			description: "The currency in which this key is charged next",
		}),
		balances: Type.Object({
			diem: Type.Union([Type.Number(), Type.Null()], { description: "The rest of today's diem. null: nothing is staked" }),
			usd: Type.Union([Type.Number(), Type.Null()], { description: "Including bundled credit" }),
			bundledCredits: Type.Number({ description: "The part of usd that is bundled credit" }),
		}),
		diemEpochAllocation: Type.Number({ description: "Today's diem at its start" }),
	}),
);

/** GET /billing/balance: the account's balances, and the currency that the calling key is charged in next. */
export async function balance(call: Call, { statements, textModels }: BillingDeps): Promise<Answer> {
	const caller = callerOf(call);
	const { account, key } = caller;
	const money = await statements.balance({ accountId: account.id, keyId: key.id, nowMs: call.admittedAtMs });
	const least = leastTextPrice(textModels().filter(({ id }) => mayUseModel(caller, id)));
	const canConsume = spendableNano(money.key, { diem: money.diem ?? 0, usd: money.usd + money.bundled }) >= least;
	const currency = canConsume ? nextCurrency(money) : null;
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

/** Returns the currency charged next: diem, then bundled credit, then USD (docs/money.md). */
function nextCurrency({ key, diem, bundled, usd }: AccountBalance): "DIEM" | "BUNDLED_CREDITS" | "USD" | null {
	if (spendableNano(key, { diem: diem ?? 0, usd: 0 }) > 0) return "DIEM";
	if (spendableNano(key, { diem: 0, usd: bundled }) > 0) return "BUNDLED_CREDITS";
	return spendableNano(key, { diem: 0, usd }) > 0 ? "USD" : null;
}
