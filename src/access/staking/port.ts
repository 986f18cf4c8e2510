/** Whether a wallet has something staked: in the store, or on a chain. */
export interface Stakes {
	/** Whether the wallet (lower case) has anything staked now: enough to make a key. Throws `ChainError`. */
	hasStake(wallet: string, nowMs: number): Promise<boolean>;
}
