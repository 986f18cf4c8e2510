/**
 * Token counts for upstreams that report none. It always returns a number, within about a second of its turn. The encoder never
 * runs on the server's own event loop, because hostile text takes it minutes.
 */
export { checkTokenCounter } from "./check.ts";
export { estimateTokens } from "./estimate-tokens.ts";
export { TokenCounter, type TokenCounterOptions } from "./token-counter.ts";
