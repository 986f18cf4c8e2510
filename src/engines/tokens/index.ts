/**
 * Token counts where an upstream gives none. Promises: a number, always, within about a second of its turn.
 * Never runs the encoder on the server's own event loop: hostile text takes it minutes.
 */
export { checkTokenCounter } from "./check.ts";
export { estimateTokens } from "./estimate-tokens.ts";
export { TokenCounter, type TokenCounterOptions } from "./token-counter.ts";
