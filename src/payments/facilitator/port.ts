import type { KnownNetwork } from "../networks.ts";
import { requirementsOf } from "../offers.ts";
import type { Signed } from "../payment.ts";
import { readTransfer } from "../solana/transfer.ts";

/** A payment in the one shape that facilitators get. */
export interface SignedPayment {
	readonly network: KnownNetwork;
	/** As it is configured, in its checksummed form where it was so. */
	readonly payTo: string;
	readonly signed: Signed;
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

/** Each network's own: what one of them cannot settle goes to another. */
export function facilitatorByNetwork(evm: Facilitator, solana: Facilitator): Facilitator {
	const of = ({ network }: SignedPayment) => (network.kind === "evm" ? evm : solana);
	return {
		name: evm.name === solana.name ? evm.name : `${evm.name}, ${solana.name}`,
		verify: (payment) => of(payment).verify(payment),
		settle: (payment, onBroadcast) => of(payment).settle(payment, onBroadcast),
	};
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
export function paymentBody({ network, payTo, signed }: SignedPayment) {
	const { amount, payload, feePayer } = payloadOf(signed);
	const requirements = { ...requirementsOf({ network, payTo }, 0, feePayer), amount };
	return {
		paymentPayload: { x402Version: 2, accepted: requirements, payload },
		paymentRequirements: requirements,
	};
}

/** On Solana who pays the fee is the one that the payer signed for. */
function payloadOf(signed: Signed) {
	if (signed.kind === "authorization") {
		const { authorization, signature } = signed;
		return { amount: authorization.value, payload: { signature, authorization }, feePayer: null };
	}
	const { transaction } = signed;
	const { units, feePayer } = readTransfer(transaction);
	return { amount: units.toString(), payload: { transaction }, feePayer };
}

/** A facilitator that can be replaced while payments run: those end with the one that they began with. */
export class ReplaceableFacilitator implements Facilitator {
	#current: Facilitator;

	constructor(first: Facilitator) {
		this.#current = first;
	}

	get name(): string {
		return this.#current.name;
	}

	replace(next: Facilitator): void {
		this.#current = next;
	}

	verify(payment: SignedPayment): Promise<Verdict> {
		return this.#current.verify(payment);
	}

	settle(payment: SignedPayment, onBroadcast: (transaction: string) => Promise<void>): Promise<Settled> {
		return this.#current.settle(payment, onBroadcast);
	}
}
