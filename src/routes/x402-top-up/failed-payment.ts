import { ApiError } from "../../errors/index.ts";
import type { TopUpOutcome, TopUpService } from "../../payments/port.ts";
import { paymentResponseHeaders } from "./payment-headers.ts";

/** The outcome of a payment that was not credited. */
export type FailedPayment = Exclude<TopUpOutcome, { readonly kind: "credited" }>;

/**
 * Returns the payment header of a request; null if it has none. Throws X402_INVALID_PAYMENT if it has two different
 * ones.
 */
export function paymentOf(topUps: TopUpService, { headers }: Request): string | null {
	try {
		return topUps.paymentOf(headers);
	} catch (error) {
		if (error instanceof RangeError) throw invalidPayment(error.message, "header_conflict");
		throw error;
	}
}

export function invalidPayment(message: string, reason: string): ApiError {
	return new ApiError("X402_INVALID_PAYMENT", { message, extra: { details: { reason } } });
}

/**
 * Returns the error for a payment's outcome (docs/wallets.md).
 * @param offer returns a new 402, for a payment that has failed for good
 */
export function failedPayment(
	outcome: FailedPayment,
	request: Request,
	offer: (error: string, headers: Readonly<Record<string, string>>) => ApiError,
): ApiError {
	const { message } = outcome;
	switch (outcome.kind) {
		case "refused": {
			const headers = paymentResponseHeaders(request, outcome.response);
			return new ApiError(outcome.code, { message, headers, extra: { details: { reason: outcome.reason } } });
		}
		case "ended":
			return offer(`${message} (${outcome.reason})`, paymentResponseHeaders(request, outcome.response));
		case "pending": {
			const { transaction, retryAfterSeconds } = outcome;
			return new ApiError("X402_SETTLEMENT_PENDING", { message, retryAfterSeconds, extra: { details: { transaction } } });
		}
		case "unavailable":
			return new ApiError("X402_FACILITATOR_UNAVAILABLE", { message, retryAfterSeconds: outcome.retryAfterSeconds });
	}
}
