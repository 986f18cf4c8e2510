/**
 * Calls nodes of chains: chooses the upstream of a call, and decides what its failure means (docs/rpc.md). Params and
 * answers pass byte for byte. A failed call goes to the next upstream; a send goes to a second one only if that is
 * harmless. An upstream of another chain is never used. A caller that leaves stops the upstream at once. Never bills,
 * never checks methods, and never logs a byte of params or answers.
 */
export * from "./port.ts";
export {
	createRpcUpstreams,
	type RpcMemberStatus,
	type RpcNetworkStatus,
	type RpcTimeouts,
	type RpcUpstreamsOptions,
	type RunningRpcUpstreams,
} from "./upstreams.ts";
