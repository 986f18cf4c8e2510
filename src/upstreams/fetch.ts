/** `timeout: false` turns the runtime's own limit off: ours are exact. */
export type FetchInit = BunFetchRequestInit & { timeout?: false };

/** The runtime's fetch, or one that stands in for it. */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>;
