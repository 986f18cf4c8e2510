import type { SOLANA_NETWORKS, X402_NETWORKS, X402Config } from "../config/index.ts";

/** A chain of the Ethereum family with the token that wallets pay in. */
export interface EvmNetwork {
	readonly kind: "evm";
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

/** A cluster of Solana with the token that wallets pay in. */
export interface SolanaNetwork {
	readonly kind: "solana";
	/** As the configuration and version 1 of x402 write it. */
	readonly name: (typeof SOLANA_NETWORKS)[number];
	/** CAIP-2: behind the colon stands the begin of the hash of the cluster's first block. */
	readonly id: string;
	/** The mint of USDC. */
	readonly asset: string;
}

export type KnownNetwork = EvmNetwork | SolanaNetwork;

/** A network that wallets may pay on, and who receives the money there. */
export interface PaymentNetwork {
	readonly network: KnownNetwork;
	readonly payTo: string;
}

export const TOKEN_DECIMALS = 6;
export const UNITS_PER_USD = 10 ** TOKEN_DECIMALS;
/** How long a payer has to send what was signed, seconds. */
export const MAX_TIMEOUT_SECONDS = 300;

const NETWORKS: readonly EvmNetwork[] = [
	{
		kind: "evm",
		name: "base",
		id: "eip155:8453",
		chainId: 8453,
		asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
		tokenName: "USD Coin",
		tokenVersion: "2",
	},
	{
		kind: "evm",
		name: "base-sepolia",
		id: "eip155:84532",
		chainId: 84_532,
		asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
		tokenName: "USDC",
		tokenVersion: "2",
	},
];

const SOLANA: readonly SolanaNetwork[] = [
	{
		kind: "solana",
		name: "solana",
		id: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
		asset: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
	},
	{
		kind: "solana",
		name: "solana-devnet",
		id: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
		asset: "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
	},
];

/** CAIP-2 of the names that version 1 of x402 has for networks. */
export const IDS_OF_NAMES: Readonly<Record<string, string>> = Object.fromEntries(
	[...NETWORKS, ...SOLANA].map(({ name, id }) => [name, id]),
);

/** The network of a configured name. */
export function networkNamed(name: string): EvmNetwork {
	return found(NETWORKS, name);
}

/** The cluster of a configured name. */
export function solanaNamed(name: string): SolanaNetwork {
	return found(SOLANA, name);
}

function found<T extends KnownNetwork>(networks: readonly T[], name: string): T {
	const network = networks.find((candidate) => candidate.name === name);
	if (network === undefined) throw new RangeError(`no network ${name}`);
	return network;
}

/** Where wallets may pay: the networks that have a receiver. */
export function paymentNetworks({
	payTo,
	networks,
	solana,
}: Pick<X402Config, "payTo" | "networks" | "solana">): readonly PaymentNetwork[] {
	const places: PaymentNetwork[] =
		payTo === undefined ? [] : Object.keys(networks).map((name) => ({ network: networkNamed(name), payTo }));
	if (solana.payTo !== undefined) places.push({ network: solanaNamed(solana.network), payTo: solana.payTo });
	return places;
}

/**
 * Under what the account of a payer is known. A wallet signs in for all EVM chains as one of Base: what it pays on any
 * of them is under that name.
 */
export function identityOf(payer: string): string {
	return payer.startsWith("0x") ? `eip155:8453:${payer}` : `solana:${payer}`;
}
