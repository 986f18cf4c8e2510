import type { TopUp } from "../../store/admin/top-ups/top-up-row.ts";
import type { KnownNetwork } from "../networks.ts";
import type { Signed } from "../payment.ts";
import type { SeenTransfer } from "./token-chain.ts";

/** What the chain says of a payment now. */
export type PaymentUse =
	/** Nothing of it has happened yet. */
	| { readonly kind: "unused" }
	/** It moved what was signed to the receiver; `head` is the newest block. */
	| { readonly kind: "transferred"; readonly transfer: SeenTransfer; readonly head: number }
	/** The chain has taken it, and moved something else or nothing. */
	| { readonly kind: "elsewhere"; readonly transaction: string; readonly block: number }
	/** What became of it was not found. */
	| { readonly kind: "unseen" };

/** Within what a payment can happen. Blocks are slots on Solana. */
export interface PaymentTerm {
	/** Below it nothing of a payment has happened that nobody has seen yet. */
	readonly fromBlock: number;
	/** Below it nothing of it can have happened, as far back as is looked. */
	readonly earliestBlock: number;
	/** Where to begin the search for what happened before it came; null: at the newest block, backwards. */
	readonly searchFrom: number | null;
	/** The last second that takes it; on Solana the height of the last block. */
	readonly validBefore: number;
}

/** One network as payments see it. Each question throws `ChainUnavailable`, the first ones `WrongChain`. */
export interface PaymentChain {
	readonly network: KnownNetwork;
	/** Blocks on top of a transfer's block before it is credited. */
	readonly confirmations: number;
	/** How often it is asked while a payment waits for its block. */
	readonly lookEveryMs: number;
	/** Whether the node serves this network, with this token. Asked once, and again where the answer was not good. */
	check(): Promise<void>;
	/** What became of what was signed. `transaction` is the one that is known of, `fromBlock` null where a term is not known. */
	use(signed: Signed, transaction: string | null, fromBlock: number | null): Promise<PaymentUse>;
	/** `null`: only the facilitator can tell. */
	isSignedByPayer(signed: Signed): Promise<boolean | null>;
	/** null where no block takes it any more. */
	term(signed: Signed): Promise<PaymentTerm | null>;
	/** Whether what a facilitator calls good has come to the chain before: then whoever shows it may not be its payer. */
	wasSent(signed: Signed, term: PaymentTerm): Promise<boolean>;
	/** Why no token can come by it any more; null while one may. `use` is what the chain has just said. */
	endOf(topUp: TopUp, use: PaymentUse, nowMs: number): Promise<string | null>;
	/** Whether what was signed has expired, but not by the safe blocks that the node shows: they may not have its last use yet. */
	isBehindEnd(signed: Signed, nowMs: number): Promise<boolean>;
	/** Whether the chain takes a transfer back no more. */
	isFinal(transfer: SeenTransfer): Promise<boolean>;
	/** True where what was sent may still find its block. */
	isWaiting(transaction: string): Promise<boolean>;
	/** Base units of the token that a payer has. */
	balanceOf(payer: string): Promise<number>;
}
