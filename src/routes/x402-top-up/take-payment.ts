import type { TopUpDesk, TopUpOutcome } from "../../payments/port.ts";
import type { Call } from "../../server/call.ts";
import { IDLE_TIMEOUT_SECONDS } from "../../server/idle-timeout.ts";

/** Takes a payment; the connection is silent until its block is there, and is kept meanwhile. Rejects as `topUp` does. */
export async function takePayment(desk: TopUpDesk, payment: string, call: Call): Promise<TopUpOutcome> {
	call.setIdleTimeout(0);
	try {
		return await desk.topUp(payment);
	} finally {
		call.setIdleTimeout(IDLE_TIMEOUT_SECONDS);
	}
}
