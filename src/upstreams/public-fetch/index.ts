/**
 * Addresses that callers name, read for them. Promises: only the public internet is reached, whatever a name, a redirect
 * or a number says; an answer is bounded in bytes (also after decompression) and in time; sites see who reads them; nothing
 * of a caller is sent. The operator may name private hosts that are read nevertheless.
 */
export { type GuardProxy, type GuardProxyOptions, startGuardProxy } from "./guard-proxy.ts";
export {
	type PublicAnswer,
	type PublicFetch,
	PublicFetchFault,
	type PublicFetchFaultKind,
	type PublicGet,
} from "./port.ts";
export { isPublicAddress } from "./public-address.ts";
export { createPublicFetch, MAX_REDIRECTS, type PublicFetchOptions } from "./public-fetch.ts";
export { refusedUrl } from "./refusal.ts";
export { type Resolve, systemResolve } from "./resolve-host.ts";
