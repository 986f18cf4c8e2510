import type { Fetch, FetchInit } from "../fetch.ts";
import { initFor } from "../node.ts";

/** The runtime's fetch, as the packages take it. */
export type PackageFetch = typeof globalThis.fetch;

/** Where requests of a provider are sent instead: what begins with one of `from` goes below `to`. */
export interface Relocation {
	readonly from: readonly string[];
	readonly to: string;
}

/**
 * Our fetch as a provider's package calls it: no redirect is followed, no time limit but ours, answers unpacked,
 * our name. `move` for packages that know only their own address.
 */
export function providerFetch(send: Fetch, move?: Relocation): PackageFetch {
	const call = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
		const requested = input instanceof Request ? input.url : String(input);
		const url = move ? moved(requested, move) : requested;
		const headers = new Headers(init.headers);
		headers.set("user-agent", "turnpike");
		if (!headers.has("accept-encoding")) headers.set("accept-encoding", "identity");
		const sentInit: FetchInit = { ...(init as FetchInit), ...initFor(url), headers };
		return send(url, sentInit);
	};
	return Object.assign(call, { preconnect: () => {} });
}

function moved(url: string, { from, to }: Relocation): string {
	const prefix = from.find((start) => url === start || url.startsWith(`${start}/`) || url.startsWith(`${start}?`));
	return prefix === undefined ? url : to.replace(/\/+$/, "") + url.slice(prefix.length);
}
