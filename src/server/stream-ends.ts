/** When streaming responses end. The listener counts them as running until then. */
const ENDS = new WeakMap<Response, Promise<unknown>>();

/** Records the promise that resolves when a streaming response has ended. */
export function noteStreamEnd(response: Response, ended: Promise<unknown>): void {
	ENDS.set(response, ended);
}

/** Returns when a streaming response ends; undefined for a whole answer. */
export function streamEnd(response: Response): Promise<unknown> | undefined {
	return ENDS.get(response);
}
