/** A chain whose wallets sign in, with its names in each format. */
export interface WalletChain {
	readonly kind: "evm" | "solana";
	/** CAIP-2 (https://chainagnostic.org/CAIPs/caip-2). */
	readonly id: string;
	/** Accepted values behind `Chain ID:`; clients write the first. */
	readonly messageIds: readonly string[];
	/** The account type in the first line of a message. */
	readonly account: "Ethereum" | "Solana";
	/** Accepted names of the signature type; offers name the first. */
	readonly types: readonly string[];
	/** The prefix of a wallet's identity. */
	readonly identity: string;
}

const SOLANA_GENESIS = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";

/** Base: wallets of every EVM chain sign in for this chain. */
export const EVM_CHAIN: WalletChain = {
	kind: "evm",
	id: "eip155:8453",
	messageIds: ["8453"],
	account: "Ethereum",
	types: ["eip191", "eip1271", "eip6492"],
	identity: "eip155:8453:",
};

export const SOLANA_CHAIN: WalletChain = {
	kind: "solana",
	id: `solana:${SOLANA_GENESIS}`,
	messageIds: [SOLANA_GENESIS, `solana:${SOLANA_GENESIS}`],
	account: "Solana",
	types: ["ed25519"],
	identity: "solana:",
};

/** Returns the chain that the `chainId` of a sign-in names: 8453, "8453" or CAIP-2; null for any other. */
export function walletChain(chainId: unknown): WalletChain | null {
	if (chainId === 8453 || chainId === "8453" || chainId === EVM_CHAIN.id) return EVM_CHAIN;
	return chainId === SOLANA_CHAIN.id ? SOLANA_CHAIN : null;
}
