import { AdminError } from "../store/admin/errors.ts";
import { isOpen, type TopUp } from "../store/admin/top-ups/top-up-row.ts";
import type { StorePort } from "../store/port.ts";
import { type Clock, sleep, type Timers } from "../telemetry/clock.ts";
import type { Log } from "../telemetry/log.ts";
import { ChainUnavailable } from "./chain/json-rpc.ts";
import type { PaymentChain, PaymentUse } from "./chain/payment-chain.ts";
import { WrongChain } from "./chain/token-chain.ts";
import { type Facilitator, FacilitatorUnavailable, type Settled, type SignedPayment } from "./facilitator/port.ts";
import { identityOf } from "./networks.ts";
import { signedOf } from "./payment.ts";

export interface SettlementDeps {
	readonly store: Pick<StorePort, "admin" | "node">;
	readonly facilitator: Facilitator;
	readonly clock: Clock;
	readonly timers: Timers;
	readonly log: Log;
	/** How long one call may take before it returns with an unknown end. */
	readonly patienceMs: number;
	/** Least time until the sweep checks a payment again. */
	readonly sweepEveryMs: number;
	/** Called for each credit, while the chain may still revert its transfer. */
	readonly onCredit: (topUp: TopUp, chain: PaymentChain) => void;
}

const MAX_LOOK_IN_MS = 300_000;

/**
 * Takes one payment from its row to its end. Only the chain's logs credit it. It fails only when it can move no token
 * any more; otherwise it stays open. Sending it again is safe: the chain executes it at most once.
 */
export class Settlement {
	readonly #deps: SettlementDeps;

	constructor(deps: SettlementDeps) {
		this.#deps = deps;
	}

	/** How long a node owns a payment. */
	get termMs(): number {
		return this.#deps.patienceMs * 2 + 10_000;
	}

	/**
	 * Settles a payment that this node owns, and releases it. `begun` is true if nothing was sent for it before.
	 * Returns its row, which stays open if the end is unknown. Rejects if the store cannot be reached.
	 */
	async settle(topUp: TopUp, payment: SignedPayment, chain: PaymentChain, isNew: boolean): Promise<TopUp> {
		const deadline = this.#deps.clock.monotonicMs() + this.#deps.patienceMs;
		let currentRow = topUp;
		try {
			if (!isNew) {
				const { row, use } = await this.checkChain(topUp, chain);
				currentRow = row;
				if (!isOpen(row)) return row;
				if (use?.kind === "transferred") return await this.#await(row, chain, deadline);
				if (use?.kind !== "unused" || (await this.#waits(row, chain))) return row;
			}
			const report = await this.#send(topUp, payment);
			if (report?.transaction) currentRow = { ...topUp, transaction: report.transaction };
			currentRow = await this.#await(currentRow, chain, report?.success ? deadline : 0);
			return currentRow;
		} finally {
			await this.#release(currentRow).catch((error: unknown) =>
				this.#deps.log.warn({ topUp: topUp.id, cause: String(error) }, "a payment could not be released; its term will end"),
			);
		}
	}

	/** Calls the chain once, and records what it proves. `use` is null if the chain is unreachable. */
	async checkChain(topUp: TopUp, chain: PaymentChain): Promise<{ readonly row: TopUp; readonly use: PaymentUse | null }> {
		try {
			await chain.check();
			const use = await chain.use(signedOf(topUp.proof), topUp.transaction, topUp.fromBlock);
			return { row: await this.#record(topUp, use, chain), use };
		} catch (error) {
			if (!(error instanceof ChainUnavailable || error instanceof WrongChain)) throw error;
			this.#deps.log.warn({ topUp: topUp.id, cause: error.message }, "the chain cannot be asked about a payment");
			return { row: topUp, use: null };
		}
	}

	/** Checks a payment that nobody is settling, without sending anything. */
	async sweep(topUp: TopUp, chain: PaymentChain): Promise<TopUp> {
		const { row } = await this.checkChain(topUp, chain);
		await this.#release(row);
		return row;
	}

	async #record(topUp: TopUp, use: PaymentUse, chain: PaymentChain): Promise<TopUp> {
		const { store, clock, log } = this.#deps;
		const { id } = topUp;
		if (use.kind === "transferred") {
			if (use.head - use.transfer.block < chain.confirmations) return { ...topUp, transaction: use.transfer.transaction };
			try {
				const credited = await store.admin("creditTopUp", { id, identity: identityOf(topUp.payer), ...use.transfer });
				log.info({ topUp: id, transaction: use.transfer.transaction, nanoUsd: credited.amount }, "a payment was credited");
				this.#deps.onCredit(credited, chain);
				return credited;
			} catch (error) {
				if (!(error instanceof AdminError)) throw error;
				log.error(
					{ topUp: id, cause: error.message },
					"a payment that arrived cannot be credited: its money is with the receiver",
				);
				return { ...topUp, transaction: use.transfer.transaction };
			}
		}
		const reason = await chain.endOf(topUp, use, clock.wallMs());
		return reason === null ? topUp : this.#fail(topUp, reason);
	}

	async #fail(topUp: TopUp, reason: string): Promise<TopUp> {
		this.#deps.log.info({ topUp: topUp.id, reason }, "a payment ended without a transfer");
		return this.#deps.store.admin("failTopUp", { id: topUp.id, reason });
	}

	/** Returns true if a sent transaction may still get into a block. */
	async #waits({ transaction }: TopUp, chain: PaymentChain): Promise<boolean> {
		try {
			return transaction !== null && (await chain.isWaiting(transaction));
		} catch (error) {
			if (error instanceof ChainUnavailable) return true;
			throw error;
		}
	}

	/** Sends the payment; null if the facilitator did not answer: something may have been sent. */
	async #send(topUp: TopUp, payment: SignedPayment): Promise<Settled | null> {
		const { store, facilitator, log } = this.#deps;
		const note = { id: topUp.id, settler: store.node.id, state: "settling" } as const;
		try {
			const report = await facilitator.settle(payment, (transaction) => store.admin("noteTopUp", { ...note, transaction }));
			if (!report.success) {
				const { reason, transaction } = report;
				log.warn({ topUp: topUp.id, facilitator: facilitator.name, reason, transaction }, "a payment is not settled yet");
			}
			return report;
		} catch (error) {
			if (!(error instanceof FacilitatorUnavailable)) throw error;
			const { message: cause } = error;
			log.warn({ topUp: topUp.id, facilitator: facilitator.name, cause }, "nobody knows whether a payment was settled");
			return null;
		}
	}

	/** Checks the payment at least once, until it has ended or the deadline has passed. */
	async #await(topUp: TopUp, chain: PaymentChain, deadline: number): Promise<TopUp> {
		const { clock, timers } = this.#deps;
		let currentRow = topUp;
		for (;;) {
			const { row, use } = await this.checkChain(currentRow, chain);
			currentRow = row;
			if (!isOpen(row) || use?.kind === "elsewhere" || use?.kind === "unseen") return row;
			if (clock.monotonicMs() + chain.pollEveryMs >= deadline) return row;
			await sleep(timers, chain.pollEveryMs);
		}
	}

	/** Releases the payment. The older it is, the later its next check. */
	async #release(topUp: TopUp): Promise<void> {
		const { store, clock, sweepEveryMs } = this.#deps;
		const ageMs = Math.max(0, clock.wallMs() - topUp.createdAtMs);
		await store.admin("noteTopUp", {
			id: topUp.id,
			settler: store.node.id,
			state: "unknown",
			...(topUp.transaction === null ? {} : { transaction: topUp.transaction }),
			lookInMs: Math.min(MAX_LOOK_IN_MS, Math.max(sweepEveryMs, Math.round(ageMs / 10))),
		});
	}
}
