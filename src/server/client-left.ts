import type { MeteredAnswer } from "./endpoint.ts";

/** The status that a post records when the caller had left. */
export const CLIENT_LEFT = 499;

/** The caller has left before any work began: nothing is executed, nothing charged. */
export class CallerLeft extends Error {
	override readonly name = "CallerLeft";
}

/**
 * Waits until the runtime has read the rest of what came with the request. It answers one request at a time: where another
 * one stands behind this one in the same packet, a trailer, or the end of the caller's side, it closes the connection, and
 * no answer can go out. Throws `CallerLeft`.
 */
export async function requireConnected(signal: AbortSignal): Promise<void> {
	await new Promise<void>((resolve) => setImmediate(resolve));
	if (signal.aborted) throw new CallerLeft();
}

/** What a request ends with whose caller has left: nobody reads it. */
export const CLIENT_LEFT_ANSWER: MeteredAnswer = { status: CLIENT_LEFT, type: "text/plain", body: null };
