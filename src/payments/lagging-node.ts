/**
 * Decides whether the facilitator has seen more of the chain than our node. A refusal then proves nothing: the tokens
 * may move, or have moved already, and a caller who signs a second payment pays twice.
 */
import type { PaymentChain } from "./chain/payment-chain.ts";

/** The payment was used: `nonce_already_used`, `duplicate_settlement`, and other facilitators' names for it. */
const USED = /nonce|already|used|duplicate|replay|processed|settle/i;
/**
 * Faults in the payment itself, or in its signature, which no use of it can cause. Any other reason may follow from a
 * use: too few tokens, a reverted call, an expired end. The codes of facilitators are no closed list.
 */
const OF_ITSELF =
	/signature|scheme|network|version|requirement|recipient|pay_?to|asset|mint|amount|value|payload$|valid_after|instruction|typed_data|fee_?payer|block(?:ed|list)|black|denied|sanction|cancel/i;
/** `unexpected_verify_error` and the like: faults of the facilitator itself (x402, error codes). */
const OWN_FAULT = /^$|^unexpected_|internal.*error|^rpc_|timeout|timed_out|unavailable/i;

/** Returns true if a refusal says nothing about the payment, because the facilitator could not check it. */
export function isFacilitatorFault(reason: string): boolean {
	return OWN_FAULT.test(reason);
}

/**
 * Returns true if a refusal may come from a use of the payment that our node does not show yet.
 *
 * @param reason the facilitator's reason, as the x402 specification or the facilitator names it
 * @param units base units of the token that were signed
 * @throws {ChainUnavailable} if the node does not answer
 */
export async function mayBeUsed(reason: string, chain: PaymentChain, payer: string, units: number): Promise<boolean> {
	if (USED.test(reason)) return true;
	if (isFacilitatorFault(reason) || OF_ITSELF.test(reason)) return false;
	return (await chain.balanceOf(payer)) >= units;
}
