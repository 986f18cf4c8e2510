import type { X402_NETWORKS } from "../config/index.ts";

/** A chain with the token that wallets pay in. */
export interface PayNetwork {
	/** As the configuration and version 1 of x402 write it. */
	readonly name: (typeof X402_NETWORKS)[number];
	/** CAIP-2. */
	readonly id: string;
	readonly chainId: number;
	/** USDC, in its checksummed form. */
	readonly asset: string;
	/** Of the token's EIP-712 domain: they differ from chain to chain. */
	readonly tokenName: string;
	readonly tokenVersion: string;
}

export const TOKEN_DECIMALS = 6;
export const UNITS_PER_USD = 10 ** TOKEN_DECIMALS;
/** How long a payer has to send what was signed, seconds. */
export const MAX_TIMEOUT_SECONDS = 300;

const NETWORKS: readonly PayNetwork[] = [
	{
		name: "base",
		id: "eip155:8453",
		chainId: 8453,
		asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
		tokenName: "USD Coin",
		tokenVersion: "2",
	},
	{
		name: "base-sepolia",
		id: "eip155:84532",
		chainId: 84_532,
		asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
		tokenName: "USDC",
		tokenVersion: "2",
	},
];

/** The network of a configured name. */
export function networkNamed(name: string): PayNetwork {
	const found = NETWORKS.find((network) => network.name === name);
	if (found === undefined) throw new RangeError(`no network ${name}`);
	return found;
}

/** A wallet signs in for all EVM chains as one of Base: what it pays on any of them is under that name. */
export function identityOf(payer: string): string {
	return `eip155:8453:${payer}`;
}
