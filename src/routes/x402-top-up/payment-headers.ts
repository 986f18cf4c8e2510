import type { PaymentResponse } from "../../payments/port.ts";

/** JSON as x402 puts it into a header. */
export function headerOf(value: unknown): string {
	return Buffer.from(JSON.stringify(value)).toString("base64");
}

/** PAYMENT-RESPONSE, and its name in version 1 for who paid with a header of version 1. */
export function paymentResponseHeaders(request: Request, response: PaymentResponse | null): Record<string, string> {
	if (response === null) return {};
	const value = headerOf(response);
	return { "PAYMENT-RESPONSE": value, ...(request.headers.has("x-payment") ? { "X-PAYMENT-RESPONSE": value } : {}) };
}
