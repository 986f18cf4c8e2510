import type { MeteredAnswer } from "./endpoint.ts";

/** The status that a post records when the caller has left. */
export const CLIENT_LEFT = 499;

/** Thrown if the caller left before any work began: nothing is executed, nothing charged. */
export class CallerLeft extends Error {
	override readonly name = "CallerLeft";
}

/**
 * Waits until the runtime has read the rest of the request's packet. The runtime answers one request at a time. If
 * another request, a trailer or the end of the caller's side follows in the same packet, it closes the connection, and
 * no answer can be sent.
 * @throws CallerLeft if the connection is closed
 */
export async function requireConnected(signal: AbortSignal): Promise<void> {
	await new Promise<void>((resolve) => setImmediate(resolve));
	if (signal.aborted) throw new CallerLeft();
}

/** The answer to a request whose caller has left: nobody reads it. */
export const CLIENT_LEFT_ANSWER: MeteredAnswer = { status: CLIENT_LEFT, type: "text/plain", body: null };
