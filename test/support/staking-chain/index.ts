/** A real chain with a staking contract on it, whose blocks have the times that the test gives them. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type Abi, encodeDeployData, encodeFunctionData, type Hex } from "viem";
import { type Anvil, type AnvilOptions, startAnvil } from "../anvil.ts";

export const MULTICALL = "0xcA11bde05977b3631167028862bE2a173976CA11";
export const TOKEN = 10n ** 18n;

/** Compiled from contracts.sol; the file names the compiler. */
const { contracts } = JSON.parse(readFileSync(join(import.meta.dir, "contracts.json"), "utf8")) as {
	contracts: Record<ContractName, { abi: Abi; bytecode: Hex }>;
};
type ContractName = "StakingToken" | "SmartWallet" | "WalletFactory";

export interface StakingChain {
	/** Address of the node, behind what `answer` says. */
	readonly url: string;
	/** Address of the contract. */
	readonly contract: string;
	/** Calls that came, by method. */
	readonly calls: Map<string, number>;
	/** What the node does: as it is, nothing at all (`down`), or by a function that may answer in its place. */
	answer: "down" | ((method: string, params: readonly unknown[]) => Response | null) | null;
	/** Whole or smallest units of a wallet's stake, in a block of its own. */
	setStake(wallet: string, units: bigint): Promise<void>;
	/** Moves a whole stake, in a block of its own. */
	move(from: string, to: string): Promise<void>;
	deploy(name: ContractName, args: readonly unknown[]): Promise<string>;
	call(contract: string, name: ContractName, functionName: string, args: readonly unknown[]): Promise<Hex>;
	encode(name: ContractName, functionName: string, args: readonly unknown[]): Hex;
	/** Mines a block with this time (Unix seconds). */
	mineAt(seconds: number): Promise<void>;
	/** Mines so many blocks, a second apart. */
	mine(blocks: number): Promise<void>;
	newest(): Promise<number>;
	stop(): Promise<void>;
}

export interface StakingChainOptions extends AnvilOptions {
	/** False: a chain without Multicall3. */
	readonly multicall?: boolean;
}

export async function startStakingChain(options: StakingChainOptions = {}): Promise<StakingChain> {
	const anvil = await startAnvil({ ...options, minedByHand: true });
	try {
		return await prepare(anvil, options);
	} catch (error) {
		await anvil.kill();
		throw error;
	}
}

async function prepare(anvil: Anvil, { multicall = true }: StakingChainOptions): Promise<StakingChain> {
	const [from = ""] = await anvil.rpc<string[]>("eth_accounts");
	const send = async (transaction: object): Promise<string> => {
		const hash = await anvil.rpc<string>("eth_sendTransaction", [{ from, gas: "0x1000000", ...transaction }]);
		await anvil.rpc("evm_mine");
		const receipt = await anvil.rpc<{ status: string; contractAddress: string }>("eth_getTransactionReceipt", [hash]);
		if (receipt.status !== "0x1") throw new Error("the transaction failed");
		return receipt.contractAddress;
	};
	if (multicall) {
		const made = await send({ data: await multicallCreation() });
		await anvil.rpc("anvil_setCode", [MULTICALL, await anvil.rpc("eth_getCode", [made, "latest"])]);
	}
	const deploy: StakingChain["deploy"] = (name, args) => send({ data: encodeDeployData({ ...contracts[name], args }) });
	const encode: StakingChain["encode"] = (name, functionName, args) =>
		encodeFunctionData({ abi: contracts[name].abi, functionName, args });
	const contract = await deploy("StakingToken", []);
	const calls = new Map<string, number>();
	const proxy = Bun.serve({
		port: 0,
		hostname: "127.0.0.1",
		async fetch(request) {
			const body = await request.text();
			const { method, params } = JSON.parse(body) as { method: string; params: readonly unknown[] };
			calls.set(method, (calls.get(method) ?? 0) + 1);
			if (chain.answer === "down") return new Response("down", { status: 404 });
			const own = chain.answer?.(method, params);
			if (own) return own;
			return fetch(anvil.url, { method: "POST", body, headers: { "content-type": "application/json" } });
		},
	});
	const chain: StakingChain = {
		url: `http://127.0.0.1:${proxy.port}`,
		contract,
		calls,
		answer: null,
		deploy,
		encode,
		setStake: async (wallet, units) =>
			void (await send({ to: contract, data: encode("StakingToken", "setStake", [wallet, units]) })),
		move: async (...wallets) => void (await send({ to: contract, data: encode("StakingToken", "move", wallets) })),
		call: (to, name, functionName, args) => anvil.rpc("eth_call", [{ to, data: encode(name, functionName, args) }, "latest"]),
		async mineAt(seconds) {
			await anvil.rpc("evm_setNextBlockTimestamp", [seconds]);
			await anvil.rpc("evm_mine");
		},
		mine: async (blocks) => void (await anvil.rpc("anvil_mine", [`0x${blocks.toString(16)}`, "0x1"])),
		newest: async () => Number(await anvil.rpc("eth_blockNumber")),
		async stop() {
			await proxy.stop(true);
			await anvil.kill();
		},
	};
	return chain;
}

/** viem has the creation code of Multicall3 among its constants, which it does not export. */
async function multicallCreation(): Promise<Hex> {
	const viem = dirname(createRequire(import.meta.url).resolve("viem/package.json"));
	const { multicall3Bytecode } = (await import(join(viem, "_esm/constants/contracts.js"))) as { multicall3Bytecode: Hex };
	return multicall3Bytecode;
}
