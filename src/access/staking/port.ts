/** Tells whether a wallet has a stake, in the store or on a chain. */
export interface Stakes {
	/**
	 * Returns true if the wallet (lower case) has any stake now, which is enough to create a key.
	 * @throws {ChainError}
	 */
	hasStake(wallet: string, nowMs: number): Promise<boolean>;
}
