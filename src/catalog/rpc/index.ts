/**
 * Networks and methods of the crypto RPC. Promises that the data is checked when it is read and never changes after, and
 * that a name that nothing lists is refused. Knows nothing of upstreams, prices in money or callers.
 */
export { creditPrice, creditsNano } from "./credit-price.ts";
export { loadRpcCatalog } from "./load.ts";
export { nearestNetwork } from "./nearest-network.ts";
export type * from "./types.ts";
