import type { SignedInWallet } from "./signed-in-wallet.ts";

/** A sign-in that was found good. */
export interface VerifiedSignIn {
	readonly wallet: SignedInWallet;
	readonly nonce: string;
	/** Unix milliseconds: until then it need not be checked again. */
	readonly knownUntilMs: number;
	/** True where it has served, and sign-ins serve once. */
	served: boolean;
}

/** Wallets are cheap to come by: past this number the oldest is forgotten, and checked again when it comes. */
const MAX_KNOWN = 20_000;

/** Good sign-ins by the hash of their header, until they expire. */
export class VerifiedSignIns {
	readonly #byHash = new Map<string, VerifiedSignIn>();

	find(hash: string, nowMs: number): VerifiedSignIn | null {
		const known = this.#byHash.get(hash);
		if (known === undefined) return null;
		if (nowMs < known.knownUntilMs) return known;
		this.#byHash.delete(hash);
		return null;
	}

	add(hash: string, known: VerifiedSignIn): void {
		const oldest = this.#byHash.size < MAX_KNOWN ? undefined : this.#byHash.keys().next().value;
		if (oldest !== undefined) this.#byHash.delete(oldest);
		this.#byHash.set(hash, known);
	}
}
