import { ApiError } from "../../errors/index.ts";
import type { TopUpOutcome, TopUpService } from "../../payments/port.ts";
import { paymentResponseHeaders } from "./payment-headers.ts";

/** What a payment came to that did not end in a credit. */
export type FailedPayment = Exclude<TopUpOutcome, { readonly kind: "credited" }>;

/** The payment header of a request; null where it has none. Throws X402_INVALID_PAYMENT where it has two that differ. */
export function paymentOf(desk: TopUpService, { headers }: Request): string | null {
	try {
		return desk.paymentOf(headers);
	} catch (error) {
		if (error instanceof RangeError) throw invalidPayment(error.message, "header_conflict");
		throw error;
	}
}

export function invalidPayment(message: string, reason: string): ApiError {
	return new ApiError("X402_INVALID_PAYMENT", { message, extra: { details: { reason } } });
}

/** The error that a payment came to (docs/wallets.md). `offer` is the 402 that is made anew where it ended for good. */
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
