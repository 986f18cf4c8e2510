import type { Caller } from "../budgets/port.ts";
import type { ApiError } from "../errors/index.ts";
import type { Call } from "./call.ts";

/** A wallet that proved who it is: by a signed message, or by paying for this very request. */
export interface SignedInWallet {
	/** `eip155:8453:<lower-case address>` or `solana:<address>`. */
	readonly identity: string;
	/** For the answer: PAYMENT-RESPONSE where the wallet paid with this request. */
	readonly headers?: Readonly<Record<string, string>>;
}

/** How wallets come in, and what those get that have to pay: handed to the pipeline (docs/wallets.md). */
export interface WalletAuth {
	/**
	 * The wallet whose signature the request carries; null where it has no header for it. Throws or rejects with
	 * X402_INVALID_SIGN_IN.
	 */
	signedIn(call: Call): SignedInWallet | null | Promise<SignedInWallet | null>;
	/**
	 * The wallet that pays for this request with a header of its own, the payment credited; null where it has none.
	 * Asked on metered routes for requests without any other credential. Throws what a top-up throws.
	 */
	paying(call: Call): SignedInWallet | null | Promise<SignedInWallet | null>;
	/** What a request without any credential gets on a metered route: the offer to pay; null where nothing is offered. */
	offer(call: Call): ApiError | null;
	/** A wallet's PAYMENT_REQUIRED with what to do about it. */
	topUpNeeded(call: Call, wallet: Caller, error: ApiError): ApiError;
}
