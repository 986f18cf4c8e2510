/**
 * Calls nodes of chains: chooses the upstream of a call, and decides what its failure means (docs/rpc.md). Promises:
 * params and answers pass byte for byte; a failed call goes to the next upstream; a send goes to a second one only
 * where that is harmless; an upstream of another chain is never used; a caller that leaves stops the upstream at once.
 * Never bills, never checks methods, and never logs a byte of params or answers.
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
