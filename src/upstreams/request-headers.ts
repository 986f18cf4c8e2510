import type { Endpoint } from "./upstream-server.ts";

/** Returns the headers of a request: those of every request to the upstream, and those of this one. */
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
