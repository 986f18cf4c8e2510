import type { PayNetwork } from "../networks.ts";
import { requirementsOf } from "../offers.ts";
import type { Authorization } from "../payment.ts";

/** A payment in the one shape that facilitators get. */
export interface SignedPayment {
	readonly network: PayNetwork;
	/** As it is configured, in its checksummed form where it was so. */
	readonly payTo: string;
	readonly authorization: Authorization;
	readonly signature: string;
}

export interface Verdict {
	readonly valid: boolean;
	/** Why not. */
	readonly reason: string;
}

/** What a facilitator says of a settlement: a hint, never a proof. */
export interface Settled {
	readonly success: boolean;
	readonly transaction: string | null;
	readonly reason: string | null;
}

/** It gave no answer that can be used: whether something was sent is not known. */
export class FacilitatorUnavailable extends Error {
	override readonly name = "FacilitatorUnavailable";
}

/** Verifies payments, and sends them to the chain at its own cost. Both calls throw `FacilitatorUnavailable`. */
export interface Facilitator {
	/** As it is shown to the operator. */
	readonly name: string;
	verify(payment: SignedPayment): Promise<Verdict>;
	/** `onBroadcast` hears of the transaction before it is sent, where the facilitator can tell. */
	settle(payment: SignedPayment, onBroadcast: (transaction: string) => Promise<void>): Promise<Settled>;
}

/** A payment as x402 version 2 writes it, and what it is held against: the amount is the signed one. */
export function paymentBody({ network, payTo, authorization, signature }: SignedPayment) {
	const requirements = { ...requirementsOf(network, payTo, 0), amount: authorization.value };
	return {
		paymentPayload: { x402Version: 2, accepted: requirements, payload: { signature, authorization } },
		paymentRequirements: requirements,
	};
}
