/** How long an account's money is leased sparingly after a notice of its change. */
const SPARING_MS = 2_000;
/** Above this many accounts, expired entries are dropped. */
const MAX_ENTRIES = 1_000;

/**
 * Accounts that the operator changed a moment ago: only what requests need is leased of them, so that money to be taken
 * back stays free once the node has returned it.
 */
export class SparedAccounts {
	/** By account, the monotonic time at which this ends. */
	readonly #untilMs = new Map<string, number>();

	add(accountId: string): void {
		const nowMs = performance.now();
		this.#untilMs.set(accountId, nowMs + SPARING_MS);
		if (this.#untilMs.size <= MAX_ENTRIES) return;
		for (const [spared, untilMs] of this.#untilMs) if (untilMs <= nowMs) this.#untilMs.delete(spared);
	}

	has(accountId: string): boolean {
		const untilMs = this.#untilMs.get(accountId);
		return untilMs !== undefined && performance.now() < untilMs;
	}
}
