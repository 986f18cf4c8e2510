import type { Hex } from "viem";
import { type BlockName, type Chain, ChainError, ChainRefusedError } from "../evm/index.ts";

export interface StakingContractOptions {
	readonly contract: string;
	/** Name and argument, like `balanceOf(address)`. */
	readonly view: string;
	/** Multicall3 (https://github.com/mds1/multicall3). */
	readonly multicall: string;
}

/** The stake in the token's smallest units, or "reverted" if the contract reverted. */
export type ReadStake = bigint | "reverted";
/** The stake of a wallet, or the error with which the node refused to answer. */
export type StakeOrFault = ReadStake | ChainRefusedError;

/** The number of concurrent single calls. */
const AT_ONCE = 8;
const WORD = 66;

/**
 * Reads stakes from a contract.
 * @throws {ChainError}
 */
export class StakingContract {
	readonly chain: Chain;
	readonly #options: StakingContractOptions;
	#selector: Promise<Hex> | null = null;

	constructor(chain: Chain, options: StakingContractOptions) {
		this.chain = chain;
		this.#options = options;
	}

	isThere(at: BlockName): Promise<boolean> {
		return this.chain.hasCode(this.#options.contract, at);
	}

	/** Returns true if one call can read many wallets. */
	hasMulticall(at: BlockName): Promise<boolean> {
		return this.chain.hasCode(this.#options.multicall, at);
	}

	async stake(wallet: string, at: BlockName): Promise<ReadStake> {
		const data = await this.#viewOf(wallet);
		let answer: Hex;
		try {
			answer = await this.chain.call({ to: this.#options.contract, data }, at);
		} catch (error) {
			if (error instanceof ChainRefusedError && error.reverted) return "reverted";
			throw error;
		}
		const stake = firstWord(answer);
		if (stake === null) throw new ChainRefusedError(`${this.#options.view} returned no number`, false);
		return stake;
	}

	/** Reads stakes in the order of the wallets, by one call each. */
	async stakes(wallets: readonly string[], at: BlockName): Promise<StakeOrFault[]> {
		const stakes: StakeOrFault[] = [];
		for (let from = 0; from < wallets.length; from += AT_ONCE) {
			const batch = wallets.slice(from, from + AT_ONCE).map((wallet) => this.#stakeOrFault(wallet, at));
			stakes.push(...(await Promise.all(batch)));
		}
		return stakes;
	}

	/** Reads stakes by one call. A wallet without an answer (the call may run out of gas) is read by a call of its own. */
	async stakesAtOnce(wallets: readonly string[], at: BlockName): Promise<StakeOrFault[]> {
		let answers: readonly (bigint | null)[];
		try {
			answers = await this.#multicall(wallets, at);
		} catch (error) {
			if (!(error instanceof ChainRefusedError)) throw error;
			answers = wallets.map(() => null);
		}
		const unknown = wallets.filter((_, index) => answers[index] === null);
		const alone = (await this.stakes(unknown, at)).values();
		return answers.map((answer) => answer ?? alone.next().value ?? new ChainRefusedError("no answer", false));
	}

	async #multicall(wallets: readonly string[], at: BlockName): Promise<(bigint | null)[]> {
		const { decodeFunctionResult, encodeFunctionData, multicall3Abi } = await import("viem");
		const target = this.#options.contract as Hex;
		const views = await Promise.all(wallets.map((wallet) => this.#viewOf(wallet)));
		const calls = views.map((callData) => ({ target, allowFailure: true, callData }));
		const data = encodeFunctionData({ abi: multicall3Abi, functionName: "aggregate3", args: [calls] });
		const answer = await this.chain.call({ to: this.#options.multicall, data }, at);
		let results: readonly { readonly success: boolean; readonly returnData: Hex }[];
		try {
			results = decodeFunctionResult({ abi: multicall3Abi, functionName: "aggregate3", data: answer });
		} catch {
			throw new ChainRefusedError("the contract at staking.multicall does not answer as Multicall3 does", false);
		}
		if (results.length !== wallets.length) throw new ChainError("Multicall3 answered for another number of wallets");
		return results.map(({ success, returnData }) => (success ? firstWord(returnData) : null));
	}

	async #stakeOrFault(wallet: string, at: BlockName): Promise<StakeOrFault> {
		try {
			return await this.stake(wallet, at);
		} catch (error) {
			if (error instanceof ChainRefusedError) return error;
			throw error;
		}
	}

	async #viewOf(wallet: string): Promise<Hex> {
		this.#selector ??= import("viem").then(({ toFunctionSelector }) => toFunctionSelector(this.#options.view));
		return `${await this.#selector}${wallet.slice(2).padStart(64, "0")}`;
	}
}

function firstWord(answer: Hex): bigint | null {
	return answer.length < WORD ? null : BigInt(answer.slice(0, WORD));
}
