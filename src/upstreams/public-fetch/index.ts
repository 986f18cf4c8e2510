/**
 * Reads addresses that callers name. Only the public internet is reached, whatever a name, a redirect or a number says.
 * Answers are limited in time and in bytes, also after decompression. Sites get our user agent and nothing of the
 * caller. The operator may allow some private hosts.
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
