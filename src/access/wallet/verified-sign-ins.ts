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

/** A sign-in that was verified. */
export interface VerifiedSignIn {
	readonly wallet: SignedInWallet;
	readonly nonce: string;
	/** Unix milliseconds until which it need not be verified again. */
	readonly knownUntilMs: number;
	/** True if it was used, and sign-ins are single-use. */
	served: boolean;
}

/** Wallets are cheap to create: past this number the oldest entry is evicted, and verified again at its next use. */
const MAX_KNOWN = 20_000;

/** Caches verified sign-ins by the hash of their header until they expire. */
export class VerifiedSignIns {
	readonly #byHash = new Map<string, VerifiedSignIn>();

	find(hash: string, nowMs: number): VerifiedSignIn | null {
		const signIn = this.#byHash.get(hash);
		if (signIn === undefined) return null;
		if (nowMs < signIn.knownUntilMs) return signIn;
		this.#byHash.delete(hash);
		return null;
	}

	add(hash: string, signIn: VerifiedSignIn): void {
		const oldest = this.#byHash.size < MAX_KNOWN ? undefined : this.#byHash.keys().next().value;
		if (oldest !== undefined) this.#byHash.delete(oldest);
		this.#byHash.set(hash, signIn);
	}
}
