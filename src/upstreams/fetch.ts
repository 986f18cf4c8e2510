/** `timeout: false` disables the runtime's own limit: ours are exact. */
export type FetchInit = BunFetchRequestInit & { timeout?: false };

/** The runtime's fetch, or a replacement. */
export type Fetch = (url: string, init: FetchInit) => Promise<Response>;
