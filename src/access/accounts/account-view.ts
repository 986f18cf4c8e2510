/** The views of accounts and their credits, debits and refunds, for the API and the command line (docs/api.md, Accounts). */

import Type from "typebox";
import { formatNano } from "../../ledger/nano.ts";
import { closed } from "../../schema/closed.ts";
import { named } from "../../schema/named-schema.ts";
import type { AccountView } from "../../store/admin/account-view.ts";
import type { MoneyEntry } from "../../store/admin/list-money.ts";
import type { BookedOnce } from "../../store/admin/money-request.ts";
import type { Refunded } from "../../store/admin/refund.ts";
import { amount, instant, isoTime, nullable } from "../view-fields.ts";

export const TierSchema = Type.Enum(["paid", "partner", "staff"]);
const CurrencySchema = Type.Enum(["USD", "BUNDLED_CREDITS", "DIEM"]);

export const AccountSchema = named(
	"Account",
	closed({
		id: Type.String(),
		name: Type.String(),
		tier: TierSchema,
		operator: Type.Boolean({ description: "The operator's own account" }),
		disabled: Type.Boolean({ description: "true: the account's requests are refused" }),
		wallet: nullable(Type.String()),
		createdAt: instant(),
		balanceUsd: amount("Prepaid USD, without bundled credit"),
		bundledUsd: amount(),
		diemToday: amount("The rest of today's diem"),
		stakeDiemToday: amount(),
		stakeDiemNext: nullable(amount("From the next UTC day on. null: it will be read from the chain")),
		stakeSource: Type.Enum(["operator", "chain"]),
	}),
);

export const BookedSchema = named(
	"MoneyBooked",
	closed({
		reference: Type.String(),
		accountId: Type.String(),
		amountUsd: amount(),
		balanceUsd: amount("The balance right after it"),
		createdAt: instant(),
	}),
);

export const RefundedSchema = named(
	"MoneyRefunded",
	closed({
		reference: Type.String(),
		accountId: Type.String(),
		requestId: Type.String(),
		amountUsd: amount("Sum of all parts. One diem counts as one USD"),
		parts: Type.Array(closed({ currency: CurrencySchema, amount: amount(), balance: amount("The balance right after it") })),
		createdAt: instant(),
	}),
);

export const MoneyEntrySchema = named(
	"MoneyEntry",
	closed({
		reference: Type.String(),
		currency: CurrencySchema,
		amount: amount(),
		balance: amount("The balance of the currency right after it"),
		requestId: Type.Optional(Type.String({ description: "For a refund: the charged request" })),
		createdAt: instant(),
	}),
);

const CURRENCIES = { usd: "USD", bundled: "BUNDLED_CREDITS", diem: "DIEM" } as const;

/** Returns an account with its amounts as decimal text. */
export function accountView(account: AccountView) {
	const { next } = account.stake;
	return {
		id: account.id,
		name: account.name,
		tier: account.tier,
		operator: account.operator,
		disabled: account.disabled,
		wallet: account.wallet,
		createdAt: isoTime(account.createdAtMs),
		balanceUsd: formatNano(account.balances.usd),
		bundledUsd: formatNano(account.balances.bundled),
		diemToday: formatNano(account.balances.diem),
		stakeDiemToday: formatNano(account.stake.today),
		stakeDiemNext: next === null ? null : formatNano(next),
		stakeSource: account.stake.source,
	};
}

/** Returns a credit or debit; each repeat gets the same answer. */
export function entryView(entry: BookedOnce) {
	return {
		reference: entry.reference,
		accountId: entry.accountId,
		amountUsd: formatNano(entry.amount),
		balanceUsd: formatNano(entry.balanceAfter),
		createdAt: isoTime(entry.bookedAtMs),
	};
}

/** Returns a refund; each repeat gets the same answer. */
export function refundedView(refunded: Refunded) {
	return {
		reference: refunded.reference,
		accountId: refunded.accountId,
		requestId: refunded.requestId,
		amountUsd: formatNano(refunded.amount),
		parts: refunded.parts.map(({ source, amount, balanceAfter }) => ({
			currency: CURRENCIES[source],
			amount: formatNano(amount),
			balance: formatNano(balanceAfter),
		})),
		createdAt: isoTime(refunded.bookedAtMs),
	};
}

export function moneyEntryView(entry: MoneyEntry) {
	return {
		reference: entry.reference,
		currency: CURRENCIES[entry.source],
		amount: formatNano(entry.amount),
		balance: formatNano(entry.balanceAfter),
		...(entry.requestId === null ? {} : { requestId: entry.requestId }),
		createdAt: isoTime(entry.bookedAtMs),
	};
}
