import type { CeilingRequest } from "./port.ts";

/**
 * An output maximum may not be lowered below this, or below the model's own maximum if that is less; the request is
 * refused instead.
 */
export const FLOOR_TOKENS = 256;

/** Largest single amount, in nano-USD: a larger one cannot be held. */
const MOST = Number.MAX_SAFE_INTEGER;

/**
 * Returns the price of `units` in nano-USD, rounded half up like a line; Infinity if it passes 2^53-1. A caller
 * may request any number of tokens: that causes a refusal, not a fault.
 */
export function lineOrMore(units: number, picoPrice: number): number {
	if (units === 0 || picoPrice === 0) return 0;
	const product = units * picoPrice;
	if (product <= MOST - 500) return Math.floor((product + 500) / 1000);
	if (!Number.isSafeInteger(units)) return Number.POSITIVE_INFINITY;
	const exact = (BigInt(units) * BigInt(picoPrice) + 500n) / 1000n;
	return exact <= BigInt(MOST) ? Number(exact) : Number.POSITIVE_INFINITY;
}

/** Returns how many units `money` nano-USD buy at a price per unit: their line never passes it. Infinity at price 0. */
export function unitsFor(money: number, picoPrice: number): number {
	if (picoPrice === 0) return Number.POSITIVE_INFINITY;
	const inPico = money * 1000;
	if (inPico <= MOST) return Math.floor(inPico / picoPrice);
	return Number((BigInt(Math.min(money, MOST)) * 1000n) / BigInt(picoPrice));
}

/** Returns the price of the prompt plus the part that does not depend on tokens. */
function promptNano(request: CeilingRequest, promptTokens: number): number {
	return (request.fixedNano ?? 0) + lineOrMore(promptTokens, request.inputPrice);
}

/** Returns the price of `tokens` of output for each choice. */
export function outputNano(request: CeilingRequest, tokens: number): number {
	return lineOrMore(tokens * request.choices, request.outputPrice);
}

/**
 * Returns the worst case of the whole request: the prompt and `tokens` for each choice. Infinity if it cannot be
 * held.
 */
export function worstNano(request: CeilingRequest, promptTokens: number, tokens: number): number {
	const sum = promptNano(request, promptTokens) + outputNano(request, tokens);
	return sum <= MOST ? sum : Number.POSITIVE_INFINITY;
}

/** Returns what one choice can produce when nothing lowers it: the model's maximum, within the context. */
export function fullTokens(request: CeilingRequest): number {
	return Math.max(1, Math.min(request.modelMaxTokens, request.contextTokens - request.promptTokensAtLeast));
}

/** Returns the output tokens of each choice that money buys beside the prompt: at most what half of `free` buys. */
export function affordableTokens(request: CeilingRequest, promptTokens: number, free: number): number {
	const beside = free - promptNano(request, promptTokens);
	if (beside < 0) return 0;
	const money = Math.min(Math.floor(free / 2), beside);
	return Math.floor(unitsFor(money, request.outputPrice) / request.choices);
}

/** Returns the max_tokens that would fit into `free`; 0 if none would. */
export function fittingTokens(request: CeilingRequest, promptTokens: number, free: number): number {
	const beside = free - promptNano(request, promptTokens);
	return beside < 0 ? 0 : Math.floor(unitsFor(beside, request.outputPrice) / request.choices);
}
