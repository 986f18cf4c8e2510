import type { StakingConfig } from "../../config/index.ts";
import { readEvmAddress } from "../../schema/index.ts";
import type { StorePort } from "../../store/port.ts";
import type { Clock, Timers } from "../../telemetry/clock.ts";
import type { Log } from "../../telemetry/log.ts";
import { Chain, WrongChainError } from "../evm/index.ts";
import { ChainStakes } from "./chain-stakes.ts";
import { OperatorStakes } from "./operator-stakes.ts";
import type { Stakes } from "./port.ts";
import { StakeReader } from "./stake-reader.ts";
import { StakingContract } from "./staking-contract.ts";

export interface StakingDeps {
	readonly config: StakingConfig;
	readonly store: Pick<StorePort, "admin" | "node">;
	readonly clock: Clock;
	readonly timers: Timers;
	readonly log: Log;
}

/** The configured source of stakes. */
export interface Staking {
	readonly stakes: Stakes;
	/** null if the operator sets the stakes. */
	readonly chain: Chain | null;
	readonly reader: StakeReader | null;
}

export function createStaking({ config, store, clock, timers, log }: StakingDeps): Staking {
	const contract = contractOf(config);
	if (contract === null) return { stakes: new OperatorStakes(store), chain: null, reader: null };
	const { decimals, diemPerToken, confirmations } = config;
	const reader = new StakeReader({
		store,
		contract,
		origin: originOf(config),
		rate: { decimals, diemPerToken },
		confirmations,
		clock,
		timers,
		log,
	});
	return { stakes: new ChainStakes(store, contract), chain: contract.chain, reader };
}

/** Returns the configured contract; null if no chain is configured. */
function contractOf({ chain, contract, view, multicall }: StakingConfig): StakingContract | null {
	const { id, rpcUrl, timeoutMs } = chain;
	if (rpcUrl === undefined || contract === undefined) return null;
	return new StakingContract(new Chain({ id, rpcUrl, timeoutMs }), { contract, view, multicall });
}

function originOf({ chain, contract = "", view, decimals, diemPerToken }: StakingConfig): string {
	return `eip155:${chain.id}:${contract.toLowerCase()} ${view} ${decimals} ${diemPerToken}`;
}

/**
 * The result of the check of the configured chain. `wrong`: the operator has to fix it before a server may start; `not-now`: it
 * may pass.
 */
export type StakingCheck = { readonly text: string } & (
	| { readonly state: "well" }
	/** `mend`: the setting line that fixes it. */
	| { readonly state: "not-now" | "wrong"; readonly mend: string }
);

/** Checks that the chain matches the configuration; null if none is configured. It never rejects. */
export async function checkStaking(config: StakingConfig): Promise<StakingCheck | null> {
	const contract = contractOf(config);
	if (contract === null) return null;
	for (const setting of ["contract", "multicall"] as const) {
		if ((await readEvmAddress(config[setting] ?? "")) === null)
			return {
				state: "wrong",
				text: `staking.${setting}: the checksum of the address (ERC-55) is wrong`,
				mend: `staking.${setting}: copy the address once more, as the chain's explorer shows it`,
			};
	}
	const place = `${config.contract} on ${config.chain.name}`;
	try {
		await contract.chain.checkId();
		if (!(await contract.isThere("latest")))
			return {
				state: "not-now",
				text: `staking.contract: there is no contract ${place}`,
				mend: `staking.contract: the address of the contract on ${config.chain.name}`,
			};
		const newestBlock = (await contract.chain.block("latest"))?.number ?? 0;
		const ways = (await contract.hasMulticall("latest")) ? "by Multicall3" : "one by one: there is no Multicall3";
		return { state: "well", text: `${place}, block ${newestBlock}; wallets are read ${ways}` };
	} catch (error) {
		const text = `staking.chain: ${(error as Error).message}`;
		if (error instanceof WrongChainError)
			return { state: "wrong", text, mend: `staking.chain.rpcUrl: a node of chain ${config.chain.id}, or set staking.chain.id` };
		return { state: "not-now", text, mend: "start that node, or set staking.chain.rpcUrl to one that runs" };
	}
}
