import type { SOLANA_NETWORKS, X402_NETWORKS, X402Config } from "../config/index.ts";

/** An EVM chain with the token that wallets pay in. */
export interface EvmNetwork {
	readonly kind: "evm";
	/** The name in the configuration and in version 1 of x402. */
	readonly name: (typeof X402_NETWORKS)[number];
	/** CAIP-2. */
	readonly id: string;
	readonly chainId: number;
	/** USDC, in its checksummed form. */
	readonly asset: string;
	/** Name in the token's EIP-712 domain, which differs between chains. */
	readonly tokenName: string;
	readonly tokenVersion: string;
}

/** A cluster of Solana with the token that wallets pay in. */
export interface SolanaNetwork {
	readonly kind: "solana";
	/** The name in the configuration and in version 1 of x402. */
	readonly name: (typeof SOLANA_NETWORKS)[number];
	/** CAIP-2: the beginning of the hash of the cluster's first block follows the colon. */
	readonly id: string;
	/** The mint of USDC. */
	readonly asset: string;
}

export type KnownNetwork = EvmNetwork | SolanaNetwork;

/** A network that wallets may pay on, and its receiver. */
export interface PaymentNetwork {
	readonly network: KnownNetwork;
	readonly payTo: string;
}

export const TOKEN_DECIMALS = 6;
export const UNITS_PER_USD = 10 ** TOKEN_DECIMALS;
/** How long a payer has to send the signed payment, in seconds. */
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

/** CAIP-2 ids by the network names of x402 version 1. */
export const IDS_OF_NAMES: Readonly<Record<string, string>> = Object.fromEntries(
	[...NETWORKS, ...SOLANA].map(({ name, id }) => [name, id]),
);

/** Returns the network of a configured name. */
export function networkNamed(name: string): EvmNetwork {
	return findNetwork(NETWORKS, name);
}

/** Returns the cluster of a configured name. */
export function solanaNamed(name: string): SolanaNetwork {
	return findNetwork(SOLANA, name);
}

function findNetwork<T extends KnownNetwork>(networks: readonly T[], name: string): T {
	const network = networks.find((candidate) => candidate.name === name);
	if (network === undefined) throw new RangeError(`no network ${name}`);
	return network;
}

/** Returns the networks that have a receiver, where wallets may pay. */
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
 * Returns the identity of a payer's account. A wallet signs in for all EVM chains with its Base identity: its
 * payments on any of them count there.
 */
export function identityOf(payer: string): string {
	return payer.startsWith("0x") ? `eip155:8453:${payer}` : `solana:${payer}`;
}
