import { createHash } from "node:crypto";
import type { X402Config } from "../config/index.ts";
import { NANO_PER_USD } from "../ledger/nano.ts";
import { AdminError } from "../store/admin/errors.ts";
import { isOpen, type TopUp, type TopUpKey } from "../store/admin/top-ups/top-up-row.ts";
import type { StorePort } from "../store/port.ts";
import { type Clock, every, sleep, type Timers } from "../telemetry/clock.ts";
import type { Log } from "../telemetry/log.ts";
import { ChainUnavailable } from "./chain/json-rpc.ts";
import type { PaymentChain } from "./chain/payment-chain.ts";
import { WrongChain } from "./chain/token-chain.ts";
import { checkTerms, refusal } from "./check-terms.ts";
import { CreditConfirmations } from "./credit-confirmations.ts";
import { type Facilitator, FacilitatorUnavailable, type SignedPayment } from "./facilitator/port.ts";
import { isFacilitatorFault, mayBeUsed } from "./lagging-node.ts";
import { identityOf, type PaymentNetwork, paymentNetworks, UNITS_PER_USD } from "./networks.ts";
import { ConfiguredOffers } from "./offers.ts";
import { type DecodedPayment, decodePayment, MalformedPayment, proofOf } from "./payment.ts";
import { PAYMENT_HEADERS, type PaymentResponse, type TopUpOutcome, type TopUpService } from "./port.ts";
import { Settlement } from "./settlement.ts";
import type { FeePayer } from "./solana/fee-payer.ts";

export interface TopUpsDeps {
	readonly config: X402Config;
	/** Configured as `timeouts.facilitatorMs`. */
	readonly facilitatorMs: number;
	readonly store: Pick<StorePort, "admin" | "node" | "shared">;
	readonly facilitator: Facilitator;
	/** The fee payer on Solana; null if nobody can pay there. */
	readonly feePayer: FeePayer | null;
	/** Chains by CAIP-2 id; a network without a node is missing. */
	readonly chains: ReadonlyMap<string, PaymentChain>;
	readonly clock: Clock;
	readonly timers: Timers;
	readonly log: Log;
}

/** A payment that this service can accept, in the shape common to all dialects. */
interface Offered {
	readonly payment: SignedPayment;
	readonly units: string;
	readonly key: TopUpKey;
	readonly proof: string;
}

const SWEPT_AT_ONCE = 100;
const LOOK_AGAIN_MS = 250;
const RETRY_SECONDS = 5;

/** Payments of wallets, from the header to the credit. */
export class TopUps implements TopUpService {
	readonly offers: ConfiguredOffers;
	readonly payOnRoutes: boolean;
	readonly credits: CreditConfirmations;
	readonly #deps: TopUpsDeps;
	readonly #places: ReadonlyMap<string, PaymentNetwork>;
	readonly #settlement: Settlement;
	/** Payments that this node is settling, by id and signed data: a repeat of the header waits for the first. */
	readonly #running = new Map<string, Promise<TopUpOutcome>>();
	#stopRetries: () => void = () => {};
	#sweeping: Promise<void> | null = null;

	constructor(deps: TopUpsDeps) {
		const { config, facilitatorMs, feePayer } = deps;
		this.#deps = deps;
		this.offers = new ConfiguredOffers(config, () => feePayer?.current() ?? null);
		this.payOnRoutes = config.payOnRoutes;
		this.#places = new Map(paymentNetworks(config).map((place) => [place.network.id, place]));
		const { sweepEveryMs } = config;
		const onCredit = (topUp: TopUp, chain: PaymentChain): void => this.credits.add(topUp, chain);
		this.credits = new CreditConfirmations(deps);
		this.#settlement = new Settlement({ ...deps, sweepEveryMs, patienceMs: facilitatorMs, onCredit });
	}

	/** Checks payments that an earlier server left open, then repeats this; checks the identity of each chain. */
	start(): void {
		const { timers, config, log, feePayer } = this.#deps;
		const names = [...this.#places.values()].map(({ network }) => network.name);
		for (const name of names.length > 1 ? names.filter((name) => TEST_NETWORKS.has(name)) : [])
			log.warn({}, `x402: ${name} is a test network: its tokens are worth nothing, and are credited like any other`);
		void feePayer?.refresh();
		for (const chain of this.#deps.chains.values()) {
			chain.check().catch((error: Error) => {
				const { name } = chain.network;
				if (error instanceof WrongChain)
					log.error({ network: name, cause: error.message }, "top-ups are refused: the chain is not what it should be");
				else log.warn({ network: name, cause: error.message }, "the chain of top-ups cannot be reached now; it is retried");
			});
		}
		void this.sweep(true);
		this.#stopRetries = every(timers, config.sweepEveryMs, () => void this.sweep());
	}

	async stop(): Promise<void> {
		this.#stopRetries();
		await Promise.allSettled([this.#sweeping, ...this.#running.values()]);
	}

	paymentOf(headers: Headers): string | null {
		const presentHeaders = PAYMENT_HEADERS.map((name) => headers.get(name)?.trim()).filter(
			(value) => value !== undefined && value !== "",
		);
		if (new Set(presentHeaders).size > 1) throw new RangeError(`${PAYMENT_HEADERS.join(", ")} differ: send one of them`);
		return presentHeaders[0] ?? null;
	}

	async topUp(header: string): Promise<TopUpOutcome> {
		let decoded: DecodedPayment;
		try {
			decoded = decodePayment(header);
		} catch (error) {
			if (error instanceof MalformedPayment) return refusal("malformed_header", error.message);
			throw error;
		}
		const offered = this.#offered(decoded);
		if (offered === null) return refusal("network_mismatch", `payments on ${decoded.network} are not taken`);
		const running = `${offered.key.network} ${offered.key.asset} ${offered.proof}`;
		const first = this.#running.get(running);
		if (first !== undefined) return asRepeat(await first);
		const outcome = this.#take(decoded, offered).finally(() => this.#running.delete(running));
		this.#running.set(running, outcome);
		return outcome;
	}

	/** Checks open payments that are due. `atStart`: all that this node owned when it ended. */
	sweep(atStart = false): Promise<void> {
		this.#sweeping ??= this.#sweep(atStart)
			.then(() => this.credits.check())
			.catch((error: unknown) => {
				this.#deps.log.warn({ cause: String(error) }, "open payments could not be checked; they are checked again");
			})
			.finally(() => {
				this.#sweeping = null;
			});
		return this.#sweeping;
	}

	async #sweep(atStart: boolean): Promise<void> {
		const { store, chains } = this.#deps;
		const settlement = this.#settlement;
		const mine = atStart ? { settler: store.node.id } : {};
		for (const dueTopUp of await store.admin("listDueTopUps", { limit: SWEPT_AT_ONCE, ...mine })) {
			const chain = chains.get(dueTopUp.network);
			if (chain === undefined || this.#isRunning(dueTopUp)) continue;
			const { topUp, mine } = await store.admin("takeTopUp", {
				id: dueTopUp.id,
				settler: store.node.id,
				termMs: settlement.termMs,
			});
			if (mine && !this.#isRunning(dueTopUp)) await settlement.sweep(topUp, chain);
		}
	}

	#isRunning({ network, asset, proof }: TopUp): boolean {
		return this.#running.has(`${network} ${asset} ${proof}`);
	}

	#offered({ network: id, asset, signed, payer, units, nonce }: DecodedPayment): Offered | null {
		const place = this.#places.get(id);
		if (place === undefined) return null;
		const token = place.network.kind === "evm" ? place.network.asset.toLowerCase() : place.network.asset;
		return {
			payment: { ...place, signed },
			units,
			key: { network: id, asset: asset ?? token, payer, nonce },
			proof: proofOf(signed),
		};
	}

	/** Takes a payment. A known one goes to its state at once, whatever the checks of a new one would say. */
	async #take(decoded: DecodedPayment, offered: Offered): Promise<TopUpOutcome> {
		const { store, clock } = this.#deps;
		const existing = await store.admin("findTopUp", offered.key);
		if (existing !== null) return this.#settleExisting(existing, offered);
		const { network, payTo } = offered.payment;
		const fault = await checkTerms(decoded, { network, payTo, limits: this.offers.limits, nowMs: clock.wallMs() });
		if (fault !== null && !isExpired(fault)) return fault;
		try {
			// It is too late for us, but another party may have executed it in time: the receiver then has its money.
			if (fault !== null) {
				// This is read first: what the node shows afterwards has all blocks that could accept the payment.
				const isBehind = await this.#isBehindEnd(offered);
				if (!(await this.#hasArrived(offered))) return isBehind ? UNPROVEN : fault;
			}
			await this.#untilValid(decoded);
			return await this.#begin(offered);
		} catch (error) {
			if (error instanceof FacilitatorUnavailable || error instanceof ChainUnavailable || error instanceof WrongChain)
				return this.#unavailable(error);
			throw error;
		}
	}

	async #hasArrived({ payment: { network, signed } }: Offered): Promise<boolean> {
		const chain = this.#deps.chains.get(network.id);
		if (chain === undefined) return false;
		await chain.check();
		if ((await chain.isSignedByPayer(signed)) !== true) return false;
		return (await chain.use(signed, null, null)).kind === "transferred";
	}

	async #isBehindEnd({ payment: { network, signed } }: Offered): Promise<boolean> {
		const chain = this.#deps.chains.get(network.id);
		return (await chain?.isBehindEnd(signed, this.#deps.clock.wallMs())) ?? false;
	}

	async #begin(offered: Offered): Promise<TopUpOutcome> {
		const { payment, key, proof } = offered;
		const { signed } = payment;
		const { store, facilitator, chains } = this.#deps;
		const settlement = this.#settlement;
		const chain = chains.get(payment.network.id);
		if (chain === undefined) throw new ChainUnavailable("no node of the chain is configured");
		await chain.check();
		const isSigned = await chain.isSignedByPayer(signed);
		if (isSigned === false) return this.#notVerified(offered, `invalid_exact_${FAMILY[payment.network.kind]}_signature`);
		const term = await chain.term(signed);
		const isBehind = term === null && (await chain.isBehindEnd(signed, this.#deps.clock.wallMs()));
		const verdict = term === null ? TOO_LATE : await facilitator.verify(payment);
		const units = Number(offered.units);
		const isClaimed = !verdict.valid && term !== null && (await mayBeUsed(verdict.reason, chain, key.payer, units));
		// Whatever the facilitator says: where the chain has used the payment, it knows for what.
		const isLooked = !verdict.valid && (isSigned !== null || isClaimed);
		const chainUse = isLooked ? await chain.use(signed, null, term?.searchFrom ?? null) : null;
		const use = chainUse?.kind === "unused" ? null : chainUse;
		if (term === null && use?.kind !== "transferred" && use?.kind !== "elsewhere") {
			if (isBehind || use?.kind === "unseen") return UNPROVEN;
			return refusal("expired", "the block that the transaction names is too old: sign a new one");
		}
		if (!verdict.valid && use === null && !isClaimed) {
			if (!isFacilitatorFault(verdict.reason)) return this.#notVerified(offered, verdict.reason);
			return this.#unavailable(new FacilitatorUnavailable(`the facilitator could not verify: ${verdict.reason}`));
		}
		if (use?.kind === "elsewhere") return this.#endedBefore(offered, use.transaction);
		const isUnsent = use === null && !isClaimed && term !== null && !(await chain.wasSent(signed, term));
		// A payment that the chain already used is credited, whoever signed it.
		if (use === null && (await store.admin("isWalletDisabled", { identity: identityOf(key.payer) }))) return DISABLED;
		const before = (use === null ? term?.fromBlock : term?.earliestBlock) ?? 0;
		const payerUnits = use === null && !isClaimed ? { payerUnits: await chain.balanceOf(key.payer) } : {};
		const beginCall = store.admin("beginTopUp", {
			...key,
			...payerUnits,
			id: paymentId(key),
			payTo: payment.network.kind === "evm" ? payment.payTo.toLowerCase() : payment.payTo,
			units,
			amount: units * (NANO_PER_USD / UNITS_PER_USD),
			validBefore: term?.validBefore ?? 0,
			proof,
			fromBlock: use?.kind === "transferred" ? use.transfer.block : before,
			settler: store.node.id,
			termMs: settlement.termMs,
		});
		const turn = await beginCall.catch((error: unknown) => {
			if (error instanceof AdminError && error.code === "CONFLICT") return null;
			throw error;
		});
		if (turn === null) return OTHER_PAYMENTS_OPEN;
		if (!turn.begun) return this.#settleExisting(turn.topUp, offered);
		return this.#outcomeOf(await settlement.settle(turn.topUp, payment, chain, isUnsent), isUnsent);
	}

	/** Handles a row that exists already: from a retry, another node, or the sweep. */
	async #settleExisting(existing: TopUp, offered: Offered): Promise<TopUpOutcome> {
		const { store, clock, timers, chains, facilitatorMs } = this.#deps;
		if (existing.proof !== offered.proof)
			return refusal("signature_mismatch", "another payment with this nonce was signed by this wallet");
		const settlement = this.#settlement;
		const chain = chains.get(existing.network);
		if (!isOpen(existing)) return this.#outcomeOf(existing, false);
		if (chain === undefined) return this.#unavailable(new ChainUnavailable("no node of the chain is configured"));
		const deadline = clock.monotonicMs() + facilitatorMs;
		for (;;) {
			const { topUp, mine } = await store.admin("takeTopUp", {
				id: existing.id,
				settler: store.node.id,
				termMs: settlement.termMs,
			});
			if (mine) return this.#outcomeOf(await settlement.settle(topUp, offered.payment, chain, false), false);
			if (!isOpen(topUp) || clock.monotonicMs() > deadline) return this.#outcomeOf(topUp, false);
			await sleep(timers, LOOK_AGAIN_MS);
		}
	}

	/** Waits until a payment becomes valid, if that is within seconds: the chain accepts it only then. */
	async #untilValid({ signed }: DecodedPayment): Promise<void> {
		if (signed.kind !== "authorization") return;
		const { authorization } = signed;
		const { clock, timers } = this.#deps;
		const waitMs = Number(authorization.validAfter) * 1_000 + 1_000 - clock.wallMs();
		if (waitMs > 0) await sleep(timers, waitMs);
	}

	#outcomeOf(topUp: TopUp, first: boolean): TopUpOutcome {
		const { id, payer, network, transaction, credit } = topUp;
		const about = { payer, network, transaction: transaction ?? "" };
		if (credit !== null) {
			const { accountId, balanceAfter } = credit;
			const wallet = { walletAddress: payer, identity: identityOf(payer), accountId };
			const payment = { paymentId: id, ...wallet, amount: topUp.amount, newBalance: balanceAfter };
			return { kind: "credited", first, payment, response: { success: true, ...about } };
		}
		if (topUp.state === "failed") {
			const reason = topUp.reason ?? "failed";
			return { kind: "ended", reason, message: ENDED, response: { success: false, errorReason: reason, ...about } };
		}
		return { kind: "pending", transaction, message: PENDING, retryAfterSeconds: RETRY_SECONDS };
	}

	#notVerified({ key: { network, payer } }: Offered, reason: string): TopUpOutcome {
		const response = { success: false, errorReason: reason, payer, transaction: "", network };
		const message = `the payment was refused (${reason}), and nothing was sent`;
		return { kind: "refused", code: "PAYMENT_VERIFICATION_FAILED", reason, message, response };
	}

	#endedBefore({ key: { network, payer }, payment }: Offered, transaction: string): TopUpOutcome {
		const reason = payment.network.kind === "evm" ? "authorization_used_elsewhere" : "transaction_failed";
		const response: PaymentResponse = { success: false, errorReason: reason, payer, transaction, network };
		return { kind: "ended", reason, message: ENDED, response };
	}

	#unavailable(error: Error): TopUpOutcome {
		this.#deps.log.warn({ cause: error.message }, "a payment could not be taken");
		return { kind: "unavailable", message: UNAVAILABLE, retryAfterSeconds: RETRY_SECONDS };
	}
}

const ENDED = "this payment ended without a transfer to the receiver, and was not credited: sign a new one";
const PENDING = "the payment is not known to be settled yet: retry the same header, and do not pay again";
/** Our node is behind the end of a payment that is presented for the first time. */
const UNPROVEN: TopUpOutcome = { kind: "pending", transaction: null, message: PENDING, retryAfterSeconds: RETRY_SECONDS };
const UNAVAILABLE = "payments cannot be settled now, and nothing was sent: retry the same header";
/** A wallet whose calls are refused must not pay for them. */
const DISABLED: TopUpOutcome = {
	kind: "refused",
	code: "API_ACCESS_DISABLED",
	reason: "wallet_disabled",
	message: "API access of this wallet is disabled, and nothing was sent; ask the operator",
	response: null,
};
const OTHER_PAYMENTS_OPEN: TopUpOutcome = {
	kind: "unavailable",
	message: "other payments of this wallet are under way and may need its tokens, and nothing was sent: retry the same header",
	retryAfterSeconds: RETRY_SECONDS,
};
/** Names that the reasons of x402 use for kinds of networks. */
const FAMILY = { evm: "evm", solana: "svm" } as const;
/** No block accepts it any more, so no call is needed. */
const TOO_LATE = { valid: false, reason: "expired" } as const;
const TEST_NETWORKS: ReadonlySet<string> = new Set(["base-sepolia", "solana-devnet"]);

function isExpired(outcome: TopUpOutcome): boolean {
	return outcome.kind === "refused" && outcome.reason === "expired";
}

/** Returns the outcome for a caller that waited for the first one: it made no payment. */
function asRepeat(outcome: TopUpOutcome): TopUpOutcome {
	return outcome.kind === "credited" ? { ...outcome, first: false } : outcome;
}

/** Returns an id that is the same on every node. */
function paymentId({ network, asset, payer, nonce }: TopUpKey): string {
	const digest = createHash("sha256").update(`${network} ${asset} ${payer} ${nonce}`).digest("base64url");
	return `payment_${digest.replaceAll(/[-_]/g, "").slice(0, 32)}`;
}
