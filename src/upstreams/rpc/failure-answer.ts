import type { RpcNetwork } from "../../catalog/rpc/types.ts";
import type { AllAttemptsFailed } from "./all-attempts-failed.ts";
import type { NetworkPool } from "./network.ts";
import { RpcCallError, type RpcOutcome } from "./port.ts";

/** Returns the error for a network without a usable upstream: what to configure, or when to retry. */
export function networkOffline({ slug }: RpcNetwork, pool: NetworkPool | undefined): RpcCallError {
	const members = pool?.members ?? [];
	if (members.length === 0) {
		const variable = `TURNPIKE_RPC_${slug.toUpperCase().replaceAll("-", "_")}`;
		const message = `${slug} has no upstream; the operator can set ${variable}=URL, or rpc.networks.${slug}.upstreams in turnpike.yaml`;
		return new RpcCallError("RPC_NETWORK_OFFLINE", { message, retryAfterSeconds: 60 });
	}
	if (members.every(({ state }) => state.chain === "wrong")) {
		const message = `${slug} is offline: its upstreams serve another chain; the operator can correct rpc.networks.${slug}.upstreams`;
		return new RpcCallError("RPC_NETWORK_OFFLINE", { message, retryAfterSeconds: 60 });
	}
	const message = `${slug} is offline: none of its upstreams can be reached now; try again shortly`;
	return new RpcCallError("RPC_NETWORK_OFFLINE", { message, retryAfterSeconds: 5 });
}

/**
 * Returns the error of a call that no upstream answered.
 * @param unknownSends positions of sends that may have been accepted; the route reports them
 */
export function callError(
	{ slug }: RpcNetwork,
	{ faults, late }: AllAttemptsFailed,
	unknownSends: readonly number[],
): RpcCallError {
	if (late || (faults.length > 0 && faults.every(({ kind }) => kind === "timeout"))) {
		const message =
			unknownSends.length > 0
				? "The upstream did not answer in time"
				: `The upstreams of ${slug} did not answer in time; try again, or ask for less at once`;
		return new RpcCallError("REQUEST_TIMEOUT", { message }, unknownSends);
	}
	if (faults.length > 0 && faults.every(({ kind }) => kind === "full")) {
		const message = `All upstreams of ${slug} run as many calls as they may; try again shortly`;
		return new RpcCallError("RPC_NETWORK_OFFLINE", { message, retryAfterSeconds: 1 });
	}
	const pauses = faults.flatMap(({ busySeconds }) => (busySeconds === null ? [] : [busySeconds]));
	const message = `No upstream of ${slug} gave an answer; try again`;
	const retry = pauses.length > 0 ? { retryAfterSeconds: Math.min(...pauses) } : {};
	return new RpcCallError("RPC_UPSTREAM_FAILED", { message, ...retry }, unknownSends);
}

/**
 * Returns the error to answer with, if every upstream sent one and none sent a better answer. The first error counts:
 * it comes from the upstream most likely to have the method.
 */
export function agreedError({ faults, late, mayBeAccepted }: AllAttemptsFailed): RpcOutcome | null {
	if (late || mayBeAccepted) return null;
	const answered = faults.filter(({ kind }) => kind !== "full");
	return answered.every(({ fallback }) => fallback !== null) ? (answered[0]?.fallback ?? null) : null;
}
