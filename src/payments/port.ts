/**
 * Top-ups as the rest of the gateway sees them: what is offered, what a payment comes to, what a wallet's history says.
 * The wire: https://github.com/coinbase/x402 (specs, version 2); our own rules: docs/wallets.md.
 */
import type { Nano } from "../ledger/nano.ts";

/** One way to pay (x402 version 2). */
export interface PaymentRequirements {
	readonly scheme: "exact";
	/** CAIP-2, such as `eip155:8453`. */
	readonly network: string;
	/** Base units of the token, decimal text: the least that may be signed. */
	readonly amount: string;
	readonly asset: string;
	readonly payTo: string;
	readonly maxTimeoutSeconds: number;
	readonly extra: Readonly<Record<string, string>>;
}

/** What is paid for. ASCII only: clients read it through `atob`. */
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

/** One way to pay as clients of version 1 read it. */
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

/** What an offer is made for. */
export interface OfferRequest {
	readonly resource: PaidResource;
	readonly error?: string;
	/** What is to be paid at least; left out: the least top-up. */
	readonly amountUsd?: number;
	readonly extensions?: Readonly<Record<string, unknown>>;
}

/** Amounts in USD. */
export interface TopUpLimits {
	readonly minimumUsd: number;
	readonly suggestedUsd: number;
	readonly maximumUsd: number;
}

/** Where the instructions of a 402 send the money. */
export interface Receiver {
	readonly payTo: string;
	readonly asset: string;
	readonly decimals: number;
	readonly network: string;
}

/** Offers are made while chain or facilitator are down: from the configuration, and on Solana from what was once heard. */
export interface Offers {
	readonly limits: TopUpLimits;
	/** Short names of the chains, such as `base`. */
	readonly chains: readonly string[];
	/** On the chain of the wallet, where payments are taken there, else on the first one. */
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
	/** Hash; empty where nothing was sent. */
	readonly transaction: string;
	readonly network: string;
}

/** A payment that the chain proved, and the books hold. */
export interface CreditedPayment {
	/** `payment_...` */
	readonly paymentId: string;
	/** As its chain writes it: lower case on EVM chains. */
	readonly walletAddress: string;
	/** Under what the wallet's account is known: `eip155:8453:0x...` or `solana:...`. */
	readonly identity: string;
	readonly accountId: string;
	readonly amount: Nano;
	/** Balance right after the credit: the same in each repeat. */
	readonly newBalance: Nano;
}

/** What became of a payment. */
export type TopUpOutcome =
	/**
	 * 200. `first`: this very call made the payment; a repeat, a call that waited for another one, and one whose payment
	 * was credited without it never is, and must not be served anything but the answer.
	 */
	| {
			readonly kind: "credited";
			readonly first: boolean;
			readonly payment: CreditedPayment;
			readonly response: PaymentResponse;
	  }
	/** 400, 403 for a wallet that is disabled: nothing was sent, no token can move by us. `response` where the facilitator refused. */
	| {
			readonly kind: "refused";
			readonly code: "X402_INVALID_PAYMENT" | "PAYMENT_VERIFICATION_FAILED" | "API_ACCESS_DISABLED";
			readonly reason: string;
			readonly message: string;
			readonly response: PaymentResponse | null;
	  }
	/** 402 with a new offer: it ended, and no token came to the receiver by it. */
	| { readonly kind: "ended"; readonly reason: string; readonly message: string; readonly response: PaymentResponse }
	/** 503 X402_SETTLEMENT_PENDING: not known yet; the same header is to be sent again. */
	| {
			readonly kind: "pending";
			readonly transaction: string | null;
			readonly message: string;
			readonly retryAfterSeconds: number;
	  }
	/** 503 X402_FACILITATOR_UNAVAILABLE: nothing was sent; the same header is to be sent again. */
	| { readonly kind: "unavailable"; readonly message: string; readonly retryAfterSeconds: number };

/** The receiver is configured; without one there is no such object, and a top-up is 503 X402_NOT_CONFIGURED. */
export interface TopUpService {
	readonly offers: Offers;
	/** Whether a paid route takes a payment header. */
	readonly payOnRoutes: boolean;
	/** The value of the payment headers of a request; null where it has none. Throws `RangeError` where two differ. */
	paymentOf(headers: Headers): string | null;
	/** Takes a payment: never rejects but where the store cannot be asked (`StoreUnavailableError`). */
	topUp(header: string): Promise<TopUpOutcome>;
}

/** What a wallet's history is made of; more kinds may come. */
export type WalletEntryType = "TOP_UP" | "CHARGE" | "REFUND" | "CREDIT" | "DEBIT";

/** One line of a wallet's history, in USD alone: diem of a linked account has its own statement. */
export interface WalletEntry {
	/** `ledger_` and a ULID; the same for good. */
	readonly id: string;
	readonly type: WalletEntryType;
	/** Nano-USD; negative where money left. */
	readonly amount: number;
	readonly balanceAfter: Nano;
	/** Unix milliseconds. */
	readonly createdAtMs: number;
	readonly requestId: string | null;
	readonly modelId: string | null;
}
