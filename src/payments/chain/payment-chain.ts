import type { TopUp } from "../../store/admin/top-ups/top-up-row.ts";
import type { KnownNetwork } from "../networks.ts";
import type { Signed } from "../payment.ts";
import type { SeenTransfer } from "./token-chain.ts";

/** What the chain shows of a payment now. */
export type PaymentUse =
	/** The chain has not used it. */
	| { readonly kind: "unused" }
	/** It moved the signed amount to the receiver; `head` is the newest block. */
	| { readonly kind: "transferred"; readonly transfer: SeenTransfer; readonly head: number }
	/** The chain has accepted it, and it moved something else or nothing. */
	| { readonly kind: "elsewhere"; readonly transaction: string; readonly block: number }
	/** It was used, but its outcome was not found. */
	| { readonly kind: "unseen" };

/** The range within which a payment can happen. Blocks are slots on Solana. */
export interface PaymentTerm {
	/** No unseen use of the payment is below this block. */
	readonly fromBlock: number;
	/** No use of it can be below this block, within the limits of the search. */
	readonly earliestBlock: number;
	/** The block at which the search for an earlier use begins; null: at the newest block, backwards. */
	readonly searchFrom: number | null;
	/** The last second at which it is accepted; on Solana the height of the last block. */
	readonly validBefore: number;
}

/** One network as payments use it. Every call throws `ChainUnavailable`, the first ones also `WrongChain`. */
export interface PaymentChain {
	readonly network: KnownNetwork;
	/** Blocks that must follow a transfer's block before it is credited. */
	readonly confirmations: number;
	/** Interval of the calls while a payment waits for its block. */
	readonly pollEveryMs: number;
	/** Checks that the node serves this network with this token. Runs once, and again after a failure. */
	check(): Promise<void>;
	/**
	 * Returns how the chain used what was signed. `transaction` is the known one; `fromBlock` is null if no term is
	 * known.
	 */
	use(signed: Signed, transaction: string | null, fromBlock: number | null): Promise<PaymentUse>;
	/** Returns true if the payer signed; null: only the facilitator can tell. */
	isSignedByPayer(signed: Signed): Promise<boolean | null>;
	/** Returns the term; null if no block accepts the payment any more. */
	term(signed: Signed): Promise<PaymentTerm | null>;
	/**
	 * Returns true if a payment that a facilitator calls valid has been on the chain before: whoever presents it may
	 * then not be its payer.
	 */
	wasSent(signed: Signed, term: PaymentTerm): Promise<boolean>;
	/** Returns why the payment can move no token any more; null while it may. `use` is the chain's latest answer. */
	endOf(topUp: TopUp, use: PaymentUse, nowMs: number): Promise<string | null>;
	/**
	 * Returns true if the payment has expired, but not by the safe blocks that the node shows: these may lack its
	 * last use.
	 */
	isBehindEnd(signed: Signed, nowMs: number): Promise<boolean>;
	/** Returns true if the chain cannot revert a transfer any more. */
	isFinal(transfer: SeenTransfer): Promise<boolean>;
	/** Returns true if the transaction may still get into a block. */
	isWaiting(transaction: string): Promise<boolean>;
	/** Returns a payer's balance in base units of the token. */
	balanceOf(payer: string): Promise<number>;
}
