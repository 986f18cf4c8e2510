import type { Caller } from "../budgets/port.ts";
import type { ApiError } from "../errors/index.ts";
import type { Call } from "./call.ts";

/** A wallet that proved its identity by a signed message, or by paying for this very request. */
export interface SignedInWallet {
	/** `eip155:8453:<lower-case address>` or `solana:<address>`. */
	readonly identity: string;
	/** Headers for the answer: PAYMENT-RESPONSE where the wallet paid with this request. */
	readonly headers?: Readonly<Record<string, string>>;
}

/** Authenticates wallets, and makes the answers that ask for payment (docs/wallets.md). */
export interface WalletAuth {
	/**
	 * Returns the wallet whose signature the request carries; null if it has no header for it. Throws or rejects with
	 * X402_INVALID_SIGN_IN.
	 */
	signedIn(call: Call): SignedInWallet | null | Promise<SignedInWallet | null>;
	/**
	 * Credits the payment that the request carries and returns its wallet; null if there is no payment. Called on
	 * metered routes for requests without any other credential. Throws what a top-up throws.
	 */
	paying(call: Call): SignedInWallet | null | Promise<SignedInWallet | null>;
	/** Returns the offer to pay for a metered request without any credential; null if nothing is offered. */
	offer(call: Call): ApiError | null;
	/** Returns a wallet's PAYMENT_REQUIRED with instructions to top up. */
	topUpNeeded(call: Call, wallet: Caller, error: ApiError): ApiError;
}
