import { join } from "node:path";
import { checkStaking } from "../../access/index.ts";
import { loadRpcCatalog } from "../../catalog/rpc/index.ts";
import { type Config, SettingError, type SettingPlaces } from "../../config/index.ts";
import { checkTopUps } from "../../payments/index.ts";
import { type Finding, fault, notice, ok } from "../../telemetry/finding.ts";
import { createLog } from "../../telemetry/log.ts";
import { createRpcUpstreams, type RpcMemberStatus, type RpcNetworkStatus } from "../../upstreams/rpc/index.ts";
import { CATALOG_DIR } from "../paths.ts";

/** Checks that every upstream of a chain answers and serves the right chain. */
export async function checkChains({ rpc, timeouts }: Config, places: SettingPlaces): Promise<Finding[]> {
	const name = "chains";
	const catalog = loadRpcCatalog(join(CATALOG_DIR, "rpc"));
	try {
		const upstreams = createRpcUpstreams({ catalog, config: rpc, timeouts, log: createLog("silent") });
		await upstreams.checked();
		const networks = upstreams.snapshot();
		upstreams.close();
		if (networks.length === 0) return [ok(name, "no upstreams (TURNPIKE_RPC_ETHEREUM_MAINNET=URL adds one)")];
		return networks.flatMap(({ network, upstreams: members }) => members.map((member) => ofMember(network, member)));
	} catch (error) {
		if (!(error instanceof SettingError)) throw error;
		return [fault(name, `${error.message}: a start exits with 78`, `correct ${places.of(error.path)}`)];
	}
}

function ofMember(network: RpcNetworkStatus["network"], { name, origin, chain, isPublic, reached }: RpcMemberStatus): Finding {
	const title = `chain ${network}`;
	const upstream = `${name === new URL(origin).host ? origin : `${name} at ${origin}`}${isPublic ? " (public)" : ""}`;
	if (chain === "right") return ok(title, `${upstream} is at block ${reached ?? "unknown"}`);
	if (chain === "wrong") {
		const mend = `move its address under rpc.networks to the network that eth_chainId names there, or set a node of ${network}`;
		return fault(title, `${upstream} serves another chain and is not used`, mend);
	}
	// Public endpoints come and go by themselves, and others take over.
	const silent = `${upstream} does not answer`;
	const mend = `start that node, or set rpc.networks.${network}.upstreams to one that runs`;
	return isPublic ? notice(title, silent, mend) : fault(title, silent, mend);
}

/** Checks the staking chain if one is configured. */
export async function checkStakes({ staking }: Config): Promise<Finding[]> {
	const name = "staking";
	const check = await checkStaking(staking);
	if (check === null) return [];
	return [check.state === "well" ? ok(name, check.text) : fault(name, check.text, check.mend)];
}

/** Checks the receivers, nodes and fees of wallet payments. */
export async function checkWalletPayments({ x402 }: Config): Promise<Finding[]> {
	const name = "top-ups";
	if (x402.payTo === undefined && x402.solana.payTo === undefined)
		return [ok(name, "off: wallets cannot pay (TURNPIKE_X402_PAY_TO or TURNPIKE_X402_SOLANA_PAY_TO sets the receiver)")];
	const checks = await checkTopUps(x402);
	return checks.map((check) => (check.state === "well" ? ok(name, check.text) : fault(name, check.text, check.mend)));
}
