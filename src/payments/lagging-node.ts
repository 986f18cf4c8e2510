/**
 * Whether the facilitator has seen more of the chain than our node. Then a refusal proves nothing: the tokens may move,
 * or may have moved already, and a caller who signs a second payment pays twice.
 */
import type { PaymentChain } from "./chain/payment-chain.ts";

/** The payment was used: `nonce_already_used`, `duplicate_settlement`, and what other facilitators call it. */
const USED = /nonce|already|used|duplicate|replay|processed|settle/i;
/**
 * What is written in the payment, or who signed it: no use of it makes that wrong. Everything else may follow from one, as
 * too few tokens, a call that reverts, or an end that has passed: the codes of facilitators are no closed list.
 */
const OF_ITSELF =
	/signature|scheme|network|version|requirement|recipient|pay_?to|asset|mint|amount|value|payload$|valid_after|instruction|typed_data|fee_?payer|block(?:ed|list)|black|denied|sanction|cancel/i;
/** `unexpected_verify_error` and the like: faults of the facilitator itself (x402, error codes). */
const OWN_FAULT = /^$|^unexpected_|internal.*error|^rpc_|timeout|timed_out|unavailable/i;

/** Tells whether a refusal says nothing of the payment: the facilitator could not look at it. */
export function isFacilitatorFault(reason: string): boolean {
	return OWN_FAULT.test(reason);
}

/**
 * Tells whether a refusal may come from a use of the payment that our node does not show yet.
 *
 * @param reason the facilitator's reason, as the x402 specification or the facilitator names it
 * @param units base units of the token that were signed
 * @throws {ChainUnavailable} where the node does not answer
 */
export async function mayBeUsed(reason: string, chain: PaymentChain, payer: string, units: number): Promise<boolean> {
	if (USED.test(reason)) return true;
	if (isFacilitatorFault(reason) || OF_ITSELF.test(reason)) return false;
	return (await chain.balanceOf(payer)) >= units;
}
