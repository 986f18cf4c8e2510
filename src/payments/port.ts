/**
 * Top-ups as other modules use them: offers, the outcomes of payments, and a wallet's history. The wire:
 * https://github.com/coinbase/x402 (specs, version 2); our own rules: docs/wallets.md.
 */
import type { Nano } from "../ledger/nano.ts";

/** One way to pay (x402 version 2). */
export interface PaymentRequirements {
	readonly scheme: "exact";
	/** CAIP-2, such as `eip155:8453`. */
	readonly network: string;
	/** Least amount that may be signed: base units of the token, as decimal text. */
	readonly amount: string;
	readonly asset: string;
	readonly payTo: string;
	readonly maxTimeoutSeconds: number;
	readonly extra: Readonly<Record<string, string>>;
}

/** The resource that is paid for. ASCII only, since clients read it through `atob`. */
export interface PaidResource {
	readonly url: string;
	readonly description: string;
	readonly mimeType: string;
}

/** Body and PAYMENT-REQUIRED header of a 402 (x402 version 2). */
export interface PaymentRequired {
	readonly x402Version: 2;
	readonly error?: string;
	readonly resource: PaidResource;
	readonly accepts: readonly PaymentRequirements[];
	readonly extensions?: Readonly<Record<string, unknown>>;
}

/** One way to pay, in the form of x402 version 1. */
export interface PaymentRequirementsV1 {
	readonly scheme: "exact";
	/** A name, such as `base`. */
	readonly network: string;
	readonly maxAmountRequired: string;
	readonly resource: string;
	readonly description: string;
	readonly mimeType: string;
	readonly payTo: string;
	readonly maxTimeoutSeconds: number;
	readonly asset: string;
	readonly extra: Readonly<Record<string, string>>;
}

export interface PaymentRequiredV1 {
	readonly x402Version: 1;
	readonly error: string;
	readonly accepts: readonly PaymentRequirementsV1[];
}

/** The request for which an offer is made. */
export interface OfferRequest {
	readonly resource: PaidResource;
	readonly error?: string;
	/** Least amount to pay; left out: the least top-up. */
	readonly amountUsd?: number;
	readonly extensions?: Readonly<Record<string, unknown>>;
}

/** Amounts in USD. */
export interface TopUpLimits {
	readonly minimumUsd: number;
	readonly suggestedUsd: number;
	readonly maximumUsd: number;
}

/** The address to which the instructions of a 402 send the money. */
export interface Receiver {
	readonly payTo: string;
	readonly asset: string;
	readonly decimals: number;
	readonly network: string;
}

/**
 * Makes offers even while chain or facilitator are down: from the configuration, and on Solana from the facilitator's
 * last answer.
 */
export interface Offers {
	readonly limits: TopUpLimits;
	/** Short names of the chains, such as `base`. */
	readonly chains: readonly string[];
	/** Returns the receiver on the wallet's chain where payments are accepted there, else on the first chain. */
	receiverFor(identity: string): Receiver;
	/** Throws `RangeError` for an amount outside the limits. */
	v2(request: OfferRequest): PaymentRequired;
	/** Throws as `v2`. */
	v1(request: OfferRequest): PaymentRequiredV1;
}

/** The three headers that may carry a payment, in order of precedence. */
export const PAYMENT_HEADERS = ["PAYMENT-SIGNATURE", "X-402-Payment", "X-PAYMENT"] as const;

/** Content of PAYMENT-RESPONSE. */
export interface PaymentResponse {
	readonly success: boolean;
	readonly errorReason?: string;
	readonly payer?: string;
	/** Hash; empty if nothing was sent. */
	readonly transaction: string;
	readonly network: string;
}

/** A payment that the chain has proved and the books contain. */
export interface CreditedPayment {
	/** `payment_...` */
	readonly paymentId: string;
	/** In the form of its chain: lower case on EVM chains. */
	readonly walletAddress: string;
	/** Identity of the wallet's account: `eip155:8453:0x...` or `solana:...`. */
	readonly identity: string;
	readonly accountId: string;
	readonly amount: Nano;
	/** Balance right after the credit; repeats report the same. */
	readonly newBalance: Nano;
}

/** The outcome of a payment. */
export type TopUpOutcome =
	/**
	 * 200. `first` is true if this very call made the payment. It is false for a repeat, a call that waited for
	 * another one, and a payment that was credited without this call: these must be served only the answer.
	 */
	| {
			readonly kind: "credited";
			readonly first: boolean;
			readonly payment: CreditedPayment;
			readonly response: PaymentResponse;
	  }
	/**
	 * 400, or 403 for a disabled wallet: nothing was sent, and we can move no token. `response` is set where the
	 * facilitator refused.
	 */
	| {
			readonly kind: "refused";
			readonly code: "X402_INVALID_PAYMENT" | "PAYMENT_VERIFICATION_FAILED" | "API_ACCESS_DISABLED";
			readonly reason: string;
			readonly message: string;
			readonly response: PaymentResponse | null;
	  }
	/** 402 with a new offer: the payment has ended, and brought no token to the receiver. */
	| { readonly kind: "ended"; readonly reason: string; readonly message: string; readonly response: PaymentResponse }
	/** 503 X402_SETTLEMENT_PENDING: the outcome is unknown; the client must send the same header again. */
	| {
			readonly kind: "pending";
			readonly transaction: string | null;
			readonly message: string;
			readonly retryAfterSeconds: number;
	  }
	/** 503 X402_FACILITATOR_UNAVAILABLE: nothing was sent; the client must send the same header again. */
	| { readonly kind: "unavailable"; readonly message: string; readonly retryAfterSeconds: number };

/** Takes payments. It exists only if a receiver is configured; otherwise a top-up is 503 X402_NOT_CONFIGURED. */
export interface TopUpService {
	readonly offers: Offers;
	/** True if a paid route accepts a payment header. */
	readonly payOnRoutes: boolean;
	/** Returns the value of a request's payment headers; null if it has none. Throws `RangeError` where two differ. */
	paymentOf(headers: Headers): string | null;
	/** Takes a payment. Rejects only if the store cannot be reached (`StoreUnavailableError`). */
	topUp(header: string): Promise<TopUpOutcome>;
}

/** Kinds of entries in a wallet's history; more may be added. */
export type WalletEntryType = "TOP_UP" | "CHARGE" | "REFUND" | "CREDIT" | "DEBIT";

/** One entry of a wallet's history, in USD only: diem of a linked account has its own statement. */
export interface WalletEntry {
	/** `ledger_` and a ULID; it never changes. */
	readonly id: string;
	readonly type: WalletEntryType;
	/** Nano-USD; negative for outgoing money. */
	readonly amount: number;
	readonly balanceAfter: Nano;
	/** Unix milliseconds. */
	readonly createdAtMs: number;
	readonly requestId: string | null;
	readonly modelId: string | null;
}
