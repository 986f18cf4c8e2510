import { join } from "node:path";
import { loadRpcCatalog } from "../catalog/rpc/index.ts";
import { type Config, ConfigError } from "../config/index.ts";
import { createLog } from "../telemetry/log.ts";
import { createRpcUpstreams, type RpcMemberStatus, type RpcNetworkStatus } from "../upstreams/rpc/index.ts";
import { CATALOG_DIR } from "./paths.ts";

interface ChainCheck {
	readonly name: string;
	readonly ok: boolean;
	readonly text: string;
}

/** Every upstream of a chain: whether it answers and serves the chain that it should. */
export async function checkChains({ rpc, timeouts }: Config): Promise<ChainCheck[]> {
	const name = "chains";
	const catalog = loadRpcCatalog(join(CATALOG_DIR, "rpc"));
	try {
		const upstreams = createRpcUpstreams({ catalog, config: rpc, timeouts, log: createLog("silent") });
		await upstreams.checked();
		const networks = upstreams.snapshot();
		upstreams.close();
		if (networks.length === 0) return [{ name, ok: true, text: "no upstreams (TURNPIKE_RPC_ETHEREUM_MAINNET=URL brings one)" }];
		return networks.flatMap(checksOf);
	} catch (error) {
		if (error instanceof ConfigError) return [{ name, ok: false, text: error.message }];
		throw error;
	}
}

function checksOf({ network, upstreams }: RpcNetworkStatus): ChainCheck[] {
	return upstreams.map((member) => ({ name: `chain ${network}`, ok: member.chain === "right", text: textOf(member) }));
}

function textOf({ name, origin, chain, isPublic, reached }: RpcMemberStatus): string {
	const who = `${name === new URL(origin).host ? origin : `${name} at ${origin}`}${isPublic ? " (public)" : ""}`;
	if (chain === "right") return `${who} is at block ${reached ?? "unknown"}`;
	return chain === "wrong" ? `${who} serves another chain and is not used` : `${who} does not answer`;
}
