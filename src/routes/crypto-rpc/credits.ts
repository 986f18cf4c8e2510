import type { RpcMethod, RpcNetwork } from "../../catalog/rpc/types.ts";
import type { RpcOutcome, RpcStream } from "../../upstreams/rpc/port.ts";

/** What an item costs whose answer is a JSON-RPC error, ours for an item that was not answered too. */
export const ERROR_ITEM_CREDITS = 5;

/** Of an answer, what its price depends on. */
export type OutcomeKind = RpcOutcome["kind"] | RpcStream["kind"];

/** Credits of an item that has a result: the network's base times the method's tier. */
function methodCredits(network: RpcNetwork, method: RpcMethod): number {
	return network.baseCredits * method.multiplier;
}

/** What these items cost at most: held before they go out. */
export function worstCredits(network: RpcNetwork, methods: readonly RpcMethod[]): number {
	let credits = 0;
	for (const method of methods) credits += Math.max(methodCredits(network, method), ERROR_ITEM_CREDITS);
	return credits;
}

/** What an item costs by what came of it. */
export function itemCredits(network: RpcNetwork, method: RpcMethod, kind: OutcomeKind): number {
	return kind === "result" || kind === "result-stream" ? methodCredits(network, method) : ERROR_ITEM_CREDITS;
}

/** What a batch costs by what came of its items, by position. */
export function batchCredits(network: RpcNetwork, methods: readonly RpcMethod[], outcomes: readonly RpcOutcome[]): number {
	let credits = 0;
	for (const [index, method] of methods.entries()) credits += itemCredits(network, method, outcomes[index]?.kind ?? "missing");
	return credits;
}

const PLACES = 8;
/** pico-USD of the last place. */
const LAST_PLACE = 10_000n;

/** Credits at a price in pico-USD as USD with 8 decimals, rounded half up: 5 credits at 625,000 are `0.00000313`. */
export function costText(credits: number, picoPrice: number): string {
	const cost = (BigInt(credits) * BigInt(picoPrice) + LAST_PLACE / 2n) / LAST_PLACE;
	const digits = cost.toString().padStart(PLACES + 1, "0");
	return `${digits.slice(0, -PLACES)}.${digits.slice(-PLACES)}`;
}
