import type { TopUpOutcome, TopUpService } from "../../payments/port.ts";
import type { Call } from "../../server/call.ts";

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
