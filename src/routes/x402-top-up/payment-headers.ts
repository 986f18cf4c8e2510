import type { PaymentResponse } from "../../payments/port.ts";

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
