import type { Fetch, FetchInit } from "../fetch.ts";
import { initFor } from "../upstream-server.ts";

/** The type of fetch that packages accept. */
export type PackageFetch = typeof globalThis.fetch;

/** Redirects requests of a provider: an address that begins with one of `from` is sent below `to`. */
export interface Relocation {
	readonly from: readonly string[];
	readonly to: string;
}

/**
 * Returns our fetch for a provider's package. It follows no redirects, has no time limit but ours, requests
 * uncompressed answers, and sends our user agent.
 * @param move for packages that know only their own address
 */
export function providerFetch(send: Fetch, move?: Relocation): PackageFetch {
	const call = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
		const requested = input instanceof Request ? input.url : String(input);
		const url = move ? relocate(requested, move) : requested;
		const headers = new Headers(init.headers);
		headers.set("user-agent", "turnpike");
		if (!headers.has("accept-encoding")) headers.set("accept-encoding", "identity");
		const sentInit: FetchInit = { ...(init as FetchInit), ...initFor(url), headers };
		return send(url, sentInit);
	};
	return Object.assign(call, { preconnect: () => {} });
}

function relocate(url: string, { from, to }: Relocation): string {
	const prefix = from.find((start) => url === start || url.startsWith(`${start}/`) || url.startsWith(`${start}?`));
	return prefix === undefined ? url : to.replace(/\/+$/, "") + url.slice(prefix.length);
}
