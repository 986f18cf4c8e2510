/** Streaming responses and when they end: the listener counts them as running until then. */
const ENDS = new WeakMap<Response, Promise<unknown>>();

/** Notes when a streaming response will have ended. */
export function noteStreamEnd(response: Response, ended: Promise<unknown>): void {
	ENDS.set(response, ended);
}

/** undefined for an answer that is whole. */
export function streamEnd(response: Response): Promise<unknown> | undefined {
	return ENDS.get(response);
}
