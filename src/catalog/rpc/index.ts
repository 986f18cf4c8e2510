/**
 * Networks and methods of the crypto RPC. The data is validated when it is read and never changes, and unlisted names are
 * refused. It knows no upstreams, prices in money or callers.
 */
export { creditPrice, creditsNano } from "./credit-price.ts";
export { loadRpcCatalog } from "./load.ts";
export { nearestNetwork } from "./nearest-network.ts";
export type * from "./types.ts";
