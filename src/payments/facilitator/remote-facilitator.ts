import type { Timers } from "../../telemetry/clock.ts";
import { limitedText, NOT_REDIRECTED } from "../exchange.ts";
import { type Facilitator, FacilitatorUnavailable, paymentBody, type Settled, type SignedPayment, type Verdict } from "./port.ts";

export interface RemoteFacilitatorOptions {
	/** Base URL of `/verify` and `/settle`. */
	readonly url: string;
	/** Additional headers of every request. */
	readonly headers: Readonly<Record<string, string>>;
	/** Timeout of each request. */
	readonly timeoutMs: number;
	readonly timers: Timers;
}

const MAX_ANSWER_BYTES = 65_536;
const MAX_REASON = 200;

type Fields = Readonly<Record<string, unknown>>;

/** An external facilitator over HTTP (https://github.com/coinbase/x402, the facilitator's interface). */
export class RemoteFacilitator implements Facilitator {
	readonly name: string;
	readonly #options: RemoteFacilitatorOptions;

	constructor(options: RemoteFacilitatorOptions) {
		this.#options = options;
		this.name = new URL(options.url).host;
	}

	async verify(payment: SignedPayment): Promise<Verdict> {
		const answer = await this.#post("verify", payment);
		if (typeof answer.isValid !== "boolean") throw new FacilitatorUnavailable("the facilitator gave no verdict");
		return { valid: answer.isValid, reason: reasonOf(answer.invalidReason) ?? "invalid_payload" };
	}

	async settle(payment: SignedPayment): Promise<Settled> {
		const answer = await this.#post("settle", payment);
		if (typeof answer.success !== "boolean") throw new FacilitatorUnavailable("the facilitator did not say whether it settled");
		return {
			success: answer.success,
			transaction: transactionOf(answer.transaction, payment),
			reason: reasonOf(answer.errorReason),
		};
	}

	/** Posts a payment. A 4xx answer with a verdict counts as an answer. */
	async #post(path: "verify" | "settle", payment: SignedPayment): Promise<Fields> {
		const { url, headers, timeoutMs, timers } = this.#options;
		const aborter = new AbortController();
		const cancel = timers.after(timeoutMs, () => aborter.abort());
		try {
			const response = await fetch(`${url.replace(/\/+$/, "")}/${path}`, {
				...NOT_REDIRECTED,
				method: "POST",
				headers: { ...headers, "content-type": "application/json" },
				body: JSON.stringify({ x402Version: 2, ...paymentBody(payment) }),
				signal: aborter.signal,
			});
			const text = await limitedText(response, MAX_ANSWER_BYTES);
			if (text === null || !mayBeVerdict(response.status))
				throw new FacilitatorUnavailable(`the facilitator answered ${path} with ${response.status}`);
			const answer: unknown = JSON.parse(text);
			if (typeof answer === "object" && answer !== null) return answer as Fields;
			throw new FacilitatorUnavailable(`the facilitator answered ${path} with ${response.status} and nothing to read`);
		} catch (error) {
			if (error instanceof FacilitatorUnavailable) throw error;
			throw new FacilitatorUnavailable(`the facilitator did not answer ${path}`, { cause: error });
		} finally {
			cancel();
		}
	}
}

/** Returns false for redirects, too many requests and server faults: they carry no verdict. */
function mayBeVerdict(status: number): boolean {
	return status < 500 && status !== 429 && (status < 300 || status >= 400);
}

/** Returns a transaction as its chain names it: by hash on EVM chains, by first signature on Solana. */
function transactionOf(value: unknown, { network }: SignedPayment): string | null {
	if (typeof value !== "string") return null;
	if (network.kind === "solana") return /^[1-9A-HJ-NP-Za-km-z]{64,88}$/.test(value) ? value : null;
	return /^0x[0-9a-fA-F]{64}$/.test(value) ? value.toLowerCase() : null;
}

/** Returns a reason that may be shown to a caller; null if there is none. */
export function reasonOf(value: unknown): string | null {
	if (typeof value !== "string" || value === "") return null;
	return value.replaceAll(/[^\x20-\x7e]/g, " ").slice(0, MAX_REASON);
}
