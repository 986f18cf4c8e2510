import type { PayNetwork } from "./networks.ts";
import { UNITS_PER_USD } from "./networks.ts";
import type { DecodedPayment } from "./payment.ts";
import type { TopUpLimits, TopUpOutcome } from "./port.ts";

export interface Terms {
	readonly network: PayNetwork;
	readonly payTo: string;
	readonly limits: TopUpLimits;
	/** Unix milliseconds. */
	readonly nowMs: number;
}

/** So much later than by our clock a payment may become valid, seconds. */
const SOON = 5;
/** Time that a settlement needs at least, seconds. */
const NEEDED = 6;

/** Holds a payment that is seen for the first time against what is offered; null where it fits. */
export function checkTerms(payment: DecodedPayment, { network, payTo, limits, nowMs }: Terms): TopUpOutcome | null {
	const { scheme, asset, amount, authorization } = payment;
	const receiver = payTo.toLowerCase();
	if (scheme !== "exact") return refusal("unsupported_scheme", `the scheme ${scheme} is not offered: only exact`);
	if (asset !== null && asset !== network.asset.toLowerCase())
		return refusal("asset_mismatch", `the token ${asset} is not offered: only ${network.asset}`);
	if ((payment.payTo ?? receiver) !== receiver || authorization.to !== receiver)
		return refusal("recipient_mismatch", `the payment goes to another receiver than ${payTo}`);
	// It would be credited, and bring nothing.
	if (authorization.from === receiver) return refusal("recipient_mismatch", "the receiver cannot pay itself");
	const units = BigInt(amount ?? authorization.value);
	if (units < BigInt(limits.minimumUsd * UNITS_PER_USD))
		return refusal("amount_below_minimum", `a top-up is ${limits.minimumUsd} USD at least`);
	if (units > BigInt(limits.maximumUsd * UNITS_PER_USD))
		return refusal("amount_above_maximum", `a top-up is ${limits.maximumUsd} USD at most`);
	if (BigInt(authorization.value) !== units) return refusal("amount_mismatch", "accepted.amount and the signed value differ");
	const now = BigInt(Math.floor(nowMs / 1_000));
	if (BigInt(authorization.validAfter) > now + BigInt(SOON)) return refusal("not_yet_valid", "validAfter lies in the future");
	if (BigInt(authorization.validBefore) < now + BigInt(NEEDED))
		return refusal("expired", `validBefore leaves less than ${NEEDED} seconds`);
	return null;
}

/** 400: nothing was sent. */
export function refusal(reason: string, message: string): TopUpOutcome {
	return { kind: "refused", code: "X402_INVALID_PAYMENT", reason, message, response: null };
}
