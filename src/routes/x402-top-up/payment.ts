import { ApiError } from "../../errors/index.ts";
import type { PaymentResponse, TopUpOutcome, TopUpService } from "../../payments/port.ts";
import type { Call } from "../../server/call.ts";

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

/** Encodes JSON as an x402 header. */
export function headerOf(value: unknown): string {
	return Buffer.from(JSON.stringify(value)).toString("base64");
}

/** Returns PAYMENT-RESPONSE, and its version 1 name for a payment with a header of version 1. */
export function paymentResponseHeaders(request: Request, response: PaymentResponse | null): Record<string, string> {
	if (response === null) return {};
	const value = headerOf(response);
	return { "PAYMENT-RESPONSE": value, ...(request.headers.has("x-payment") ? { "X-PAYMENT-RESPONSE": value } : {}) };
}

/**
 * Takes a payment. The idle timeout is suspended, since the connection is silent until the payment's block. Rejects as
 * `topUp` does.
 */
export async function takePayment(topUps: TopUpService, payment: string, call: Call): Promise<TopUpOutcome> {
	call.suspendIdleTimeout();
	try {
		return await topUps.topUp(payment);
	} finally {
		call.resumeIdleTimeout();
	}
}
