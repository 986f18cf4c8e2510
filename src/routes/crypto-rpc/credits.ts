import type { RpcMethod, RpcNetwork } from "../../catalog/rpc/types.ts";
import type { RpcOutcome, RpcStream } from "../../upstreams/rpc/port.ts";

/** Price of an item whose answer is a JSON-RPC error, including our error for an unanswered item. */
export const ERROR_ITEM_CREDITS = 5;

/** The kind of an answer, on which its price depends. */
export type OutcomeKind = RpcOutcome["kind"] | RpcStream["kind"];

/** Returns the credits of an item with a result: the network's base times the method's tier. */
function methodCredits(network: RpcNetwork, method: RpcMethod): number {
	return network.baseCredits * method.multiplier;
}

/** Returns the most that these items can cost: held before they go out. */
export function worstCredits(network: RpcNetwork, methods: readonly RpcMethod[]): number {
	let credits = 0;
	for (const method of methods) credits += Math.max(methodCredits(network, method), ERROR_ITEM_CREDITS);
	return credits;
}

/** Returns the credits of an item by its outcome. */
export function itemCredits(network: RpcNetwork, method: RpcMethod, kind: OutcomeKind): number {
	return kind === "result" || kind === "result-stream" ? methodCredits(network, method) : ERROR_ITEM_CREDITS;
}

/** Returns the credits of a batch by the outcomes of its items, by position. */
export function batchCredits(network: RpcNetwork, methods: readonly RpcMethod[], outcomes: readonly RpcOutcome[]): number {
	let credits = 0;
	for (const [index, method] of methods.entries()) credits += itemCredits(network, method, outcomes[index]?.kind ?? "missing");
	return credits;
}

const PLACES = 8;
/** pico-USD of the last decimal place. */
const LAST_PLACE = 10_000n;

/**
 * Returns credits at a price in pico-USD as USD with 8 decimals, rounded half up: 5 credits at 625,000 are
 * `0.00000313`.
 */
export function costText(credits: number, picoPrice: number): string {
	const cost = (BigInt(credits) * BigInt(picoPrice) + LAST_PLACE / 2n) / LAST_PLACE;
	const digits = cost.toString().padStart(PLACES + 1, "0");
	return `${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`;
}

/**
 * Returns the headers of a 200 that report the charge.
 * @param picoPrice price of a credit
 */
export function costHeaders(credits: number, picoPrice: number): Record<string, string> {
	return { "X-Service-RPC-Credits": String(credits), "X-Service-RPC-Cost-USD": costText(credits, picoPrice) };
}
