/**
 * Nodes of chains: which upstream takes a call, and what it means when it fails (docs/rpc.md). Promises: params and
 * answers pass byte for byte; what is no answer goes to the next upstream; a send goes to a second one only where that
 * can do no harm; one that serves another chain is never used; a caller that leaves stops the upstream at once. Never
 * bills, never checks methods, and no log line has a byte of what is carried.
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
