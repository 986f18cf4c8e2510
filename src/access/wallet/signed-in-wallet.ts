/** A wallet that proved its identity by a signature. */
export interface SignedInWallet {
	/** `eip155:8453:<lower-case address>` or `solana:<address>`. */
	readonly identity: string;
	readonly chain: "evm" | "solana";
	/** Lower case on EVM chains. */
	readonly address: string;
	/** Unix milliseconds: the end of this sign-in. */
	readonly expiresAtMs: number;
}
