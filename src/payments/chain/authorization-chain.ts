import type { TopUp } from "../../store/admin/top-ups/top-up-row.ts";
import type { EvmNetwork } from "../networks.ts";
import type { Authorization, Signed } from "../payment.ts";
import type { PaymentChain, PaymentTerm, PaymentUse } from "./payment-chain.ts";
import { isSignedByPayer } from "./signature.ts";
import type { SeenTransfer, TokenChain } from "./token-chain.ts";

/** How much earlier than our clock the chain may report that a payment has expired, in seconds. */
const MAX_CLOCK_SKEW_SECONDS = 60;
/** Most blocks that the chain may reorganise under a payment that is seen for the first time. */
const REORG_BLOCKS = 64;
/** How far back an earlier use of a new payment is searched: on Base 18 hours. */
const USED_BEFORE_BLOCKS = 32_000;
const MAX_SECONDS = BigInt(Number.MAX_SAFE_INTEGER);

/** Payments by signed authorizations of a token: EVM chains. */
export class AuthorizationChain implements PaymentChain {
	readonly network: EvmNetwork;
	readonly confirmations: number;
	readonly pollEveryMs = 250;
	readonly token: TokenChain;

	constructor(token: TokenChain, confirmations: number) {
		this.network = token.network;
		this.token = token;
		this.confirmations = confirmations;
	}

	check(): Promise<void> {
		return this.token.check();
	}

	use(signed: Signed, transaction: string | null, fromBlock: number | null): Promise<PaymentUse> {
		return this.token.use(authorizationOf(signed), transaction, fromBlock);
	}

	isSignedByPayer(signed: Signed): Promise<boolean | null> {
		if (signed.kind !== "authorization") throw new RangeError("no authorization");
		return isSignedByPayer(this.token, signed.authorization, signed.signature);
	}

	/** The chain's time alone never proves that an authorization has expired: `endOf` decides that. */
	async term(signed: Signed): Promise<PaymentTerm> {
		const { number: head } = await this.token.head();
		const validBefore = BigInt(authorizationOf(signed).validBefore);
		return {
			fromBlock: Math.max(0, head - REORG_BLOCKS),
			earliestBlock: Math.max(0, head - USED_BEFORE_BLOCKS),
			searchFrom: null,
			validBefore: Number(validBefore > MAX_SECONDS ? MAX_SECONDS : validBefore),
		};
	}

	/** Facilitators ask the token about an authorization: a used one is invalid. */
	async wasSent(): Promise<boolean> {
		return false;
	}

	async endOf({ validBefore }: TopUp, use: PaymentUse, nowMs: number): Promise<string | null> {
		if (use.kind === "elsewhere" && use.block <= (await this.token.final()).number) return "authorization_used_elsewhere";
		// Our clock is checked first: only after expiry by it is the chain's worth a call.
		if (use.kind !== "unused" || nowMs < (validBefore - MAX_CLOCK_SKEW_SECONDS) * 1_000) return null;
		// No later block can accept it, and none up to this one has.
		return (await this.token.final()).timestamp >= validBefore ? "authorization_expired" : null;
	}

	async isBehindEnd(signed: Signed, nowMs: number): Promise<boolean> {
		const validBefore = BigInt(authorizationOf(signed).validBefore);
		if (validBefore > BigInt(Math.floor(nowMs / 1_000))) return false;
		return BigInt((await this.token.final()).timestamp) < validBefore;
	}

	async isFinal({ block }: SeenTransfer): Promise<boolean> {
		return block <= (await this.token.final()).number;
	}

	isWaiting(transaction: string): Promise<boolean> {
		return this.token.isWaiting(transaction);
	}

	balanceOf(payer: string): Promise<number> {
		return this.token.tokenBalance(payer);
	}
}

function authorizationOf(signed: Signed): Authorization {
	if (signed.kind !== "authorization") throw new RangeError("no authorization");
	return signed.authorization;
}
