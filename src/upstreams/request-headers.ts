import type { Endpoint } from "./node.ts";

/** Headers of a request: all that the upstream is always sent, and what tells of this one. */
export function requestHeaders(
	endpoint: Endpoint,
	requestId: string,
	accept: string,
	type: string | null,
): Record<string, string> {
	return {
		accept,
		"accept-encoding": "identity",
		...(type === null ? {} : { "content-type": type }),
		...endpoint.probeHeaders,
		"x-request-id": requestId,
	};
}
