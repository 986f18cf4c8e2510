import type { Config } from "../../config/index.ts";
import { Chain } from "../evm/index.ts";

const BASE = 8453;

/** Returns the node of Base that verifies contract wallets; null if none is configured. */
export function contractNode({ siwx, rpc, staking }: Pick<Config, "siwx" | "rpc" | "staking">): Chain | null {
	const { timeoutMs } = siwx;
	if (siwx.rpcUrl !== undefined) return new Chain({ id: BASE, rpcUrl: siwx.rpcUrl, timeoutMs });
	const network = rpc.networks["base-mainnet"];
	const [upstream] = [...(network?.upstreams ?? [])].sort((one, other) => one.order - other.order);
	if (upstream !== undefined && network?.enabled !== false) {
		const { url, headers } = upstream;
		return new Chain({ id: BASE, rpcUrl: url, timeoutMs, ...(headers === undefined ? {} : { headers }) });
	}
	const { id, rpcUrl } = staking.chain;
	return id === BASE && rpcUrl !== undefined ? new Chain({ id, rpcUrl, timeoutMs }) : null;
}
