/** The chains whose wallets sign in, and how each names itself. */
export interface WalletChain {
	readonly kind: "evm" | "solana";
	/** CAIP-2 (https://chainagnostic.org/CAIPs/caip-2). */
	readonly id: string;
	/** What a message may say behind `Chain ID:`; the first is what clients write. */
	readonly messageIds: readonly string[];
	/** Whose account the first line of a message speaks of. */
	readonly account: "Ethereum" | "Solana";
	/** How a signature may be called; the first is what an offer says. */
	readonly types: readonly string[];
	/** What the identity of a wallet begins with. */
	readonly identity: string;
}

const SOLANA_GENESIS = "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";

/** Base: wallets of every EVM chain sign in for this one. */
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

/** The chain that the `chainId` of a sign-in names: 8453, "8453" or CAIP-2; null for any other. */
export function walletChain(chainId: unknown): WalletChain | null {
	if (chainId === 8453 || chainId === "8453" || chainId === EVM_CHAIN.id) return EVM_CHAIN;
	return chainId === SOLANA_CHAIN.id ? SOLANA_CHAIN : null;
}
