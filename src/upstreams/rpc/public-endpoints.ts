import type { RpcNetwork } from "../../catalog/rpc/types.ts";

/**
 * Returns the public HTTP endpoints of a network's chain from viem's definitions. Returns none if viem does not define
 * the chain.
 */
export async function publicEndpoints({ chainIdHex, vm }: RpcNetwork): Promise<readonly string[]> {
	if (vm !== "evm" || chainIdHex === null) return [];
	const id = Number(chainIdHex);
	// The definitions take tens of megabytes of memory, so they are loaded only if an operator uses them.
	const definitions = Object.values(await import("viem/chains"));
	const urls = definitions.filter((chain) => chain.id === id).flatMap((chain) => [...chain.rpcUrls.default.http]);
	return [...new Set(urls)];
}
