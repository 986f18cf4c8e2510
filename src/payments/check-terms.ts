import { type PaymentNetwork, TOKEN_DECIMALS, UNITS_PER_USD } from "./networks.ts";
import type { Authorization, DecodedPayment } from "./payment.ts";
import type { TopUpLimits, TopUpOutcome } from "./port.ts";
import { tokenAccountOf } from "./solana/token-account.ts";
import { readTransfer } from "./solana/transfer.ts";

export interface Terms extends PaymentNetwork {
	readonly limits: TopUpLimits;
	/** Unix milliseconds. */
	readonly nowMs: number;
}

/** How much later than now, by our clock, a payment may become valid, in seconds. */
const SOON = 5;
/** Least time that a settlement needs, in seconds. */
const NEEDED = 6;

/** Checks a payment that is seen for the first time against the offer; null if it fits. */
export async function checkTerms(payment: DecodedPayment, terms: Terms): Promise<TopUpOutcome | null> {
	const { network, payTo, limits } = terms;
	const { scheme, asset, amount, signed } = payment;
	const receiver = asWritten(terms, payTo);
	if (scheme !== "exact") return refusal("unsupported_scheme", `the scheme ${scheme} is not offered: only exact`);
	if (asset !== null && asset !== asWritten(terms, network.asset)) return otherAsset(terms, asset);
	if ((payment.payTo ?? receiver) !== receiver) return otherReceiver(terms);
	// Such a payment would be credited and bring no money.
	if (payment.payer === receiver) return refusal("recipient_mismatch", "the receiver cannot pay itself");
	const elsewhere =
		signed.kind === "authorization"
			? signed.authorization.to === receiver
				? null
				: otherReceiver(terms)
			: await checkTransaction(signed.transaction, terms);
	if (elsewhere !== null) return elsewhere;
	const units = BigInt(amount ?? payment.units);
	if (units < BigInt(limits.minimumUsd * UNITS_PER_USD))
		return refusal("amount_below_minimum", `a top-up is ${limits.minimumUsd} USD at least`);
	if (units > BigInt(limits.maximumUsd * UNITS_PER_USD))
		return refusal("amount_above_maximum", `a top-up is ${limits.maximumUsd} USD at most`);
	if (BigInt(payment.units) !== units) return refusal("amount_mismatch", "accepted.amount and the signed value differ");
	return signed.kind === "authorization" ? checkTimes(signed.authorization, terms) : null;
}

/** Returns an address as a payment writes it: in lower case on EVM chains. */
function asWritten({ network }: Terms, address: string): string {
	return network.kind === "evm" ? address.toLowerCase() : address;
}

function otherAsset({ network }: Terms, asset: string): TopUpOutcome {
	return refusal("asset_mismatch", `the token ${asset} is not offered: only ${network.asset}`);
}

function otherReceiver({ payTo }: Terms): TopUpOutcome {
	return refusal("recipient_mismatch", `the payment goes to another receiver than ${payTo}`);
}

/** Checks a transfer from the payer's token account to the receiver's: only this shows whose units they are. */
async function checkTransaction(transaction: string, terms: Terms): Promise<TopUpOutcome | null> {
	const { network, payTo } = terms;
	const { mint, decimals, payer, source, destination } = readTransfer(transaction);
	if (mint !== network.asset || decimals !== TOKEN_DECIMALS) return otherAsset(terms, mint);
	if (destination !== (await tokenAccountOf(payTo, mint))) return otherReceiver(terms);
	if (source === (await tokenAccountOf(payer, mint))) return null;
	return refusal("payer_mismatch", "the payment comes from another account than the payer's own for the token");
}

function checkTimes(authorization: Authorization, { nowMs }: Terms): TopUpOutcome | null {
	const now = BigInt(Math.floor(nowMs / 1_000));
	if (BigInt(authorization.validAfter) > now + BigInt(SOON)) return refusal("not_yet_valid", "validAfter lies in the future");
	if (BigInt(authorization.validBefore) < now + BigInt(NEEDED))
		return refusal("expired", `validBefore leaves less than ${NEEDED} seconds`);
	return null;
}

/** Returns a 400: nothing was sent. */
export function refusal(reason: string, message: string): TopUpOutcome {
	return { kind: "refused", code: "X402_INVALID_PAYMENT", reason, message, response: null };
}
