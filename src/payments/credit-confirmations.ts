import type { TopUp } from "../store/admin/top-ups/top-up-row.ts";
import type { Clock } from "../telemetry/clock.ts";
import type { Log } from "../telemetry/log.ts";
import { ChainUnavailable } from "./chain/json-rpc.ts";
import type { PaymentChain } from "./chain/payment-chain.ts";
import { type Facilitator, FacilitatorUnavailable, type SignedPayment } from "./facilitator/port.ts";
import { signedOf } from "./payment.ts";

export interface CreditConfirmationsDeps {
	readonly facilitator: Facilitator;
	readonly clock: Clock;
	readonly log: Log;
}

interface Watched {
	readonly topUp: TopUp;
	readonly chain: PaymentChain;
	readonly until: number;
	lookAt: number;
}

const MAX_WATCHED = 1_000;
const WATCHED_MS = 3_600_000;
const LOOK_EVERY_MS = 60_000;

/**
 * Watches credits whose block is not safe yet. If the chain reverts the transfer, the signed payment is sent
 * again, so that the receiver gets what was credited. The list is in memory: `reconcile` reports what an ended server
 * did not see.
 */
export class CreditConfirmations {
	readonly #deps: CreditConfirmationsDeps;
	/** Watched credits by id, oldest first. */
	readonly #watched = new Map<string, Watched>();

	constructor(deps: CreditConfirmationsDeps) {
		this.#deps = deps;
	}

	add(topUp: TopUp, chain: PaymentChain): void {
		const now = this.#deps.clock.monotonicMs();
		const [oldest] = this.#watched.keys();
		if (this.#watched.size >= MAX_WATCHED && oldest !== undefined) this.#watched.delete(oldest);
		this.#watched.set(topUp.id, { topUp, chain, until: now + WATCHED_MS, lookAt: now + LOOK_EVERY_MS });
	}

	/** Checks the credits that are due; with `all`, every one. */
	async check(all = false): Promise<void> {
		const now = this.#deps.clock.monotonicMs();
		for (const [id, watched] of this.#watched) {
			if (!all && watched.lookAt > now) continue;
			watched.lookAt = now + LOOK_EVERY_MS;
			try {
				if ((await this.#isSafe(watched)) || watched.until <= now) this.#watched.delete(id);
			} catch (error) {
				if (!(error instanceof ChainUnavailable || error instanceof FacilitatorUnavailable)) throw error;
				this.#deps.log.warn({ topUp: id, cause: error.message }, "a credited payment could not be checked; it is checked again");
			}
		}
	}

	async #isSafe({ topUp, chain }: Watched): Promise<boolean> {
		const { log, facilitator } = this.#deps;
		const signed = signedOf(topUp.proof);
		const use = await chain.use(signed, topUp.transaction, topUp.fromBlock);
		if (use.kind === "transferred") return chain.isFinal(use.transfer);
		const { id, transaction } = topUp;
		log.error({ topUp: id, transaction, finding: use.kind }, "the chain took a credited transfer back");
		if (use.kind !== "unused" || (transaction !== null && (await chain.isWaiting(transaction)))) return false;
		const payment: SignedPayment = { network: chain.network, payTo: topUp.payTo, signed };
		const settled = await facilitator.settle(payment, async () => {});
		log.warn(
			{ topUp: id, transaction: settled.transaction, reason: settled.reason },
			"a credited payment was sent to the chain again",
		);
		return false;
	}
}
