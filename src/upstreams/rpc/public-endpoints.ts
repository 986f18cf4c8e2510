import type { RpcNetwork } from "../../catalog/rpc/types.ts";

/** The public HTTP endpoints of a network's chain, by the definitions that viem carries; none where it has no such chain. */
export async function publicEndpoints({ chainIdHex, vm }: RpcNetwork): Promise<readonly string[]> {
	if (vm !== "evm" || chainIdHex === null) return [];
	const id = Number(chainIdHex);
	// All definitions at once take some tens of megabytes: they are loaded where an operator wants them.
	const definitions = Object.values(await import("viem/chains"));
	const urls = definitions.filter((chain) => chain.id === id).flatMap((chain) => [...chain.rpcUrls.default.http]);
	return [...new Set(urls)];
}
