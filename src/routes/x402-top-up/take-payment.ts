import type { TopUpOutcome, TopUpService } from "../../payments/port.ts";
import type { Call } from "../../server/call.ts";

/** Takes a payment; the connection is silent until its block is there, and is kept meanwhile. Rejects as `topUp` does. */
export async function takePayment(desk: TopUpService, payment: string, call: Call): Promise<TopUpOutcome> {
	call.suspendIdleTimeout();
	try {
		return await desk.topUp(payment);
	} finally {
		call.resumeIdleTimeout();
	}
}
