import type { Clock } from "../../telemetry/clock.ts";

/** Shortest interval between recalls of the same account. */
const RECALL_EVERY_MS = 200;
const MAX_ACCOUNTS = 1_000;

/** Limits how often a node requests money of the same account back from the others. */
export class RecallLimit {
	readonly #clock: Pick<Clock, "monotonicMs">;
	/** Monotonic time of each account's last recall, oldest first. */
	readonly #recalledAt = new Map<string, number>();

	constructor(clock: Pick<Clock, "monotonicMs">) {
		this.#clock = clock;
	}

	/** Returns the accounts that may be recalled now, and counts them as recalled. */
	take(accountIds: readonly string[]): string[] {
		const now = this.#clock.monotonicMs();
		const due = accountIds.filter(
			(accountId) => now - (this.#recalledAt.get(accountId) ?? Number.NEGATIVE_INFINITY) >= RECALL_EVERY_MS,
		);
		for (const accountId of due) {
			this.#recalledAt.delete(accountId);
			this.#recalledAt.set(accountId, now);
		}
		for (const oldest of this.#recalledAt.keys()) {
			if (this.#recalledAt.size <= MAX_ACCOUNTS) break;
			this.#recalledAt.delete(oldest);
		}
		return due;
	}
}
