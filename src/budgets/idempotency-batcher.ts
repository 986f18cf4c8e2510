import type { ClaimRequest, IdempotencyBatch, ReleasedClaim, StoredClaim } from "../store/idempotency.ts";
import type { StorePort } from "../store/port.ts";
import { StoreUnavailableError } from "../store/store-errors.ts";
import type { Clock, Timers } from "../telemetry/clock.ts";

export interface IdempotencyBatcherDeps {
	readonly store: Pick<StorePort, "idempotency" | "shared">;
	readonly clock: Clock;
	readonly timers: Timers;
	readonly maxKeys: number;
}

type Dropped = IdempotencyBatch["drops"][number];

interface Waiting {
	readonly request: ClaimRequest;
	readonly resolve: (stored: StoredClaim) => void;
	readonly reject: (error: unknown) => void;
}

/** A trip carries at most this many claims: its answer may hold as many bodies. */
const MAX_CLAIMS = 16;
const MAX_RELEASES = 1_000;
/** Where the store is away for long, the oldest are left to the end of this node's epoch. */
const MAX_QUEUED_RELEASES = 100_000;
const RETRY_MS = 1_000;

/** Takes claims to the store, one trip at a time: those that come while one is under way share the next. */
export class IdempotencyBatcher {
	readonly #deps: IdempotencyBatcherDeps;
	#waiting: Waiting[] = [];
	#releases: ReleasedClaim[] = [];
	#drops: Dropped[] = [];
	#isSending = false;
	#cancelRetry: (() => void) | null = null;
	#closed = false;

	constructor(deps: IdempotencyBatcherDeps) {
		this.#deps = deps;
	}

	/** What the store has under the claim's key. Rejects with what the store rejects with; the claim is released then. */
	claim(request: ClaimRequest): Promise<StoredClaim> {
		return new Promise((resolve, reject) => {
			this.#waiting.push({ request, resolve, reject });
			this.#sendSoon();
		});
	}

	/** Lets other nodes have the key again. On a store of one node nothing is written of who runs. */
	release(claim: ReleasedClaim): void {
		if (!this.#deps.store.shared) return;
		this.#releases.push(claim);
		this.#sendSoon();
	}

	/** Goes with the next trip, before its claims. */
	drop(answer: Dropped): void {
		this.#drops.push(answer);
	}

	close(): void {
		this.#closed = true;
		this.#cancelRetry?.();
		for (const { reject } of this.#waiting.splice(0)) reject(new StoreUnavailableError("this node is stopping"));
	}

	/** Claims of the same turn go together. */
	#sendSoon(): void {
		if (this.#isSending) return;
		this.#isSending = true;
		queueMicrotask(() => void this.#sendBatch());
	}

	async #sendBatch(): Promise<void> {
		while (!this.#closed && this.#waiting.length + this.#releases.length > 0) {
			const { store, clock, maxKeys } = this.#deps;
			const waiting = this.#waiting.splice(0, MAX_CLAIMS);
			const releases = this.#releases.splice(0, MAX_RELEASES);
			const drops = this.#drops.splice(0);
			const claims = waiting.map(({ request }) => request);
			try {
				const stored = await store.idempotency({ claims, releases, drops, nowMs: clock.wallMs(), maxKeys });
				waiting.forEach(({ resolve, reject }, at) => {
					const found = stored[at];
					if (found === undefined) reject(new Error("the store left a claim unanswered"));
					else resolve(found);
				});
			} catch (error) {
				for (const { reject } of waiting) reject(error);
				this.#drops.unshift(...drops);
				// The trip may have reached the store all the same.
				if (store.shared) this.#retry([...releases, ...claims]);
				if (this.#waiting.length === 0) break;
			}
		}
		this.#isSending = false;
	}

	#retry(releases: readonly ReleasedClaim[]): void {
		this.#releases = [...releases, ...this.#releases].slice(-MAX_QUEUED_RELEASES);
		this.#cancelRetry ??= this.#deps.timers.after(RETRY_MS, () => {
			this.#cancelRetry = null;
			this.#sendSoon();
		});
	}
}
