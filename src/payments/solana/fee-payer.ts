import { readSolanaAddress } from "../../schema/index.ts";
import type { Clock, Timers } from "../../telemetry/clock.ts";
import type { Log } from "../../telemetry/log.ts";
import { limitedText, NOT_REDIRECTED } from "../exchange.ts";

export interface FeePayerOptions {
	/** Fee payer from the configuration: nothing is fetched then. */
	readonly configured: string | undefined;
	/** The facilitator's URL; undefined: there is none to call. */
	readonly url: string | undefined;
	readonly headers: Readonly<Record<string, string>>;
	/** CAIP-2. */
	readonly network: string;
	readonly timeoutMs: number;
	readonly clock: Clock;
	readonly timers: Timers;
	readonly log: Log;
}

/** How long an answer is used before it is fetched again. */
const FRESH_MS = 300_000;
/** Pause after a failed call. */
const RETRY_MS = 5_000;
const MAX_ANSWER_BYTES = 262_144;

/**
 * The fee payer of payments on Solana, which a payer's signature includes. The facilitator reports it (`GET
 * /supported` of x402); its last answer is used while it is unreachable.
 */
export class FeePayer {
	#options: FeePayerOptions;
	#lastFeePayer: string | null;
	#refreshAtMs = 0;
	#refreshing: Promise<void> | null = null;

	constructor(options: FeePayerOptions) {
		this.#options = options;
		this.#lastFeePayer = options.configured ?? null;
	}

	/** Switches to another facilitator; the last answer is used until the new one has answered. */
	replace(facilitator: Pick<FeePayerOptions, "url" | "headers">): void {
		this.#options = { ...this.#options, ...facilitator };
		this.#refreshAtMs = 0;
	}

	/**
	 * Returns the known fee payer; null if none was ever reported. Fetches in the background if the answer is
	 * old.
	 */
	current(): string | null {
		const { configured, url, clock } = this.#options;
		if (configured === undefined && url !== undefined && clock.monotonicMs() >= this.#refreshAtMs) void this.refresh();
		return this.#lastFeePayer;
	}

	/** Never rejects. */
	refresh(): Promise<void> {
		const { configured, url, clock, log } = this.#options;
		if (configured !== undefined || url === undefined) return Promise.resolve();
		this.#refreshing ??= this.#fetchFeePayer(url)
			.then((feePayer) => {
				this.#lastFeePayer = feePayer;
				this.#refreshAtMs = clock.monotonicMs() + FRESH_MS;
			})
			.catch((error: Error) => {
				this.#refreshAtMs = clock.monotonicMs() + RETRY_MS;
				log.warn({ cause: error.message }, "the facilitator does not report its fee payer on Solana; it is asked again");
			})
			.finally(() => {
				this.#refreshing = null;
			});
		return this.#refreshing;
	}

	async #fetchFeePayer(url: string): Promise<string> {
		const { headers, timeoutMs, timers, network } = this.#options;
		const aborter = new AbortController();
		const cancel = timers.after(timeoutMs, () => aborter.abort());
		try {
			const response = await fetch(`${url.replace(/\/+$/, "")}/supported`, {
				...NOT_REDIRECTED,
				headers,
				signal: aborter.signal,
			});
			const text = await limitedText(response, MAX_ANSWER_BYTES);
			if (!response.ok || text === null) throw new Error(`it answered with ${response.status}`);
			const feePayer = feePayerIn(JSON.parse(text), network);
			if (feePayer === null) throw new Error(`it settles nothing on ${network}`);
			return feePayer;
		} finally {
			cancel();
		}
	}
}

/** Returns the first fee payer of the network's scheme `exact`; null if there is none. */
function feePayerIn(answer: unknown, network: string): string | null {
	const { kinds } = (answer ?? {}) as { readonly kinds?: unknown };
	for (const kind of Array.isArray(kinds) ? kinds : []) {
		const { scheme, network: of, extra } = (kind ?? {}) as Readonly<Record<string, unknown>>;
		const { feePayer } = (extra ?? {}) as { readonly feePayer?: unknown };
		if (scheme !== "exact" || of !== network || typeof feePayer !== "string") continue;
		if (readSolanaAddress(feePayer) !== null) return feePayer;
	}
	return null;
}
