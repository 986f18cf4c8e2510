/** Amounts that the operator enters: decimal text, digits with at most 9 places, no sign, no exponent. */
import { formatNano, NANO_PER_USD, type Nano, parseNano } from "../../ledger/nano.ts";
import { AdminError } from "./errors.ts";

/** Most of a single movement by the operator, so that sums of a few billion movements stay exact. */
const MAX_CREDIT_NANO = 1_000_000 * NANO_PER_USD;

/** Parses an amount of money to move, above 0. The message contains `what`. Throws `AdminError` (INVALID). */
export function amountToMove(text: string, what: "credit" | "debit" | "refund"): Nano {
	const amount = parseNano(text);
	if (amount === undefined) {
		const most = formatNano(MAX_CREDIT_NANO, 0);
		throw new AdminError(
			"INVALID",
			`not an amount of at most ${most}: ${JSON.stringify(text)}; write digits with at most 9 places, like 12.50`,
		);
	}
	if (amount === 0) throw new AdminError("INVALID", `a ${what} is more than 0`);
	if (amount > MAX_CREDIT_NANO) {
		throw new AdminError("INVALID", `a ${what} is at most ${formatNano(MAX_CREDIT_NANO, 0)} USD`);
	}
	return amount;
}

/** Parses a target amount, from 0 on. Throws `AdminError` (INVALID). */
export function amountToBe(text: string): Nano {
	const amount = parseNano(text);
	if (amount === undefined || amount > MAX_CREDIT_NANO) {
		const most = formatNano(MAX_CREDIT_NANO, 0);
		throw new AdminError("INVALID", `not an amount of 0 to ${most}: ${JSON.stringify(text)}; at most 9 places, like 12.50`);
	}
	return amount;
}
