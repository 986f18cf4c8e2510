import type { KnownNetwork } from "../networks.ts";
import { requirementsOf } from "../offers.ts";
import type { Signed } from "../payment.ts";
import { readTransfer } from "../solana/transfer.ts";

/** A payment in the one shape that facilitators get. */
export interface SignedPayment {
	readonly network: KnownNetwork;
	/** As configured, in its checksummed form where it was given so. */
	readonly payTo: string;
	readonly signed: Signed;
}

export interface Verdict {
	readonly valid: boolean;
	/** Why the payment is invalid. */
	readonly reason: string;
}

/** A facilitator's report of a settlement: a hint, never a proof. */
export interface Settled {
	readonly success: boolean;
	readonly transaction: string | null;
	readonly reason: string | null;
}

/** Thrown if the facilitator gave no usable answer: whether something was sent is unknown. */
export class FacilitatorUnavailable extends Error {
	override readonly name = "FacilitatorUnavailable";
}

/** Returns a facilitator that passes each payment to that of its network. */
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
	/** Name shown to the operator. */
	readonly name: string;
	verify(payment: SignedPayment): Promise<Verdict>;
	/**
	 * Settles a payment. `onBroadcast` is called with the transaction before it is sent, where the facilitator knows it
	 * then.
	 */
	settle(payment: SignedPayment, onBroadcast: (transaction: string) => Promise<void>): Promise<Settled>;
}

/**
 * Returns a payment in the form of x402 version 2, and the requirements it is checked against; their amount is the
 * signed one.
 */
export function paymentBody({ network, payTo, signed }: SignedPayment) {
	const { amount, payload, feePayer } = payloadOf(signed);
	const requirements = { ...requirementsOf({ network, payTo }, 0, feePayer), amount };
	return {
		paymentPayload: { x402Version: 2, accepted: requirements, payload },
		paymentRequirements: requirements,
	};
}

/** Returns the signed payload. On Solana the fee payer is the one that the payer signed for. */
function payloadOf(signed: Signed) {
	if (signed.kind === "authorization") {
		const { authorization, signature } = signed;
		return { amount: authorization.value, payload: { signature, authorization }, feePayer: null };
	}
	const { transaction } = signed;
	const { units, feePayer } = readTransfer(transaction);
	return { amount: units.toString(), payload: { transaction }, feePayer };
}

/** A facilitator that can be replaced while payments run: a running payment ends with the one it began with. */
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
