/** Schemas for external input: compiled checks, and faults in the API's words. Unchecked values never pass. */
export { type Checker, checker, invalidField, invalidRequest } from "./check.ts";
export { checksummedAddress, readEvmAddress } from "./evm-address.ts";
export { detailsOf, issuesOf, pathText } from "./issues.ts";
export { isSignedBySolanaKey, readSolanaAddress, SMALL_ORDER_POINTS } from "./solana-address.ts";
