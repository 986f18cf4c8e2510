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

/** A call carries at most this many claims, since its answer may hold as many bodies. */
const MAX_CLAIMS = 16;
const MAX_RELEASES = 1_000;
/**
 * If the store is unreachable for long, the oldest releases are dropped: the end of this node's epoch frees them.
 */
const MAX_QUEUED_RELEASES = 100_000;
const RETRY_MS = 1_000;

/** Sends claims to the store, one call at a time: claims that arrive during a call share the next one. */
export class IdempotencyBatcher {
	readonly #deps: IdempotencyBatcherDeps;
	#queuedClaims: Waiting[] = [];
	#releases: ReleasedClaim[] = [];
	#drops: Dropped[] = [];
	#isSending = false;
	#cancelRetry: (() => void) | null = null;
	#closed = false;

	constructor(deps: IdempotencyBatcherDeps) {
		this.#deps = deps;
	}

	/**
	 * Returns what the store has under the claim's key. Rejects with the error of the store; the claim is then
	 * released.
	 */
	claim(request: ClaimRequest): Promise<StoredClaim> {
		return new Promise((resolve, reject) => {
			this.#queuedClaims.push({ request, resolve, reject });
			this.#sendSoon();
		});
	}

	/** Frees the key for other nodes. A store of a single node does not record running requests. */
	release(claim: ReleasedClaim): void {
		if (!this.#deps.store.shared) return;
		this.#releases.push(claim);
		this.#sendSoon();
	}

	/** Drops an answer with the next call, before its claims. */
	drop(answer: Dropped): void {
		this.#drops.push(answer);
	}

	close(): void {
		this.#closed = true;
		this.#cancelRetry?.();
		for (const { reject } of this.#queuedClaims.splice(0)) reject(new StoreUnavailableError("this node is stopping"));
	}

	/** Sends claims of the same turn together. */
	#sendSoon(): void {
		if (this.#isSending) return;
		this.#isSending = true;
		queueMicrotask(() => void this.#sendBatch());
	}

	async #sendBatch(): Promise<void> {
		while (!this.#closed && this.#queuedClaims.length + this.#releases.length > 0) {
			const { store, clock, maxKeys } = this.#deps;
			const waiting = this.#queuedClaims.splice(0, MAX_CLAIMS);
			const releases = this.#releases.splice(0, MAX_RELEASES);
			const drops = this.#drops.splice(0);
			const claims = waiting.map(({ request }) => request);
			try {
				const stored = await store.idempotency({ claims, releases, drops, nowMs: clock.wallMs(), maxKeys });
				waiting.forEach(({ resolve, reject }, index) => {
					const storedClaim = stored[index];
					if (storedClaim === undefined) reject(new Error("the store left a claim unanswered"));
					else resolve(storedClaim);
				});
			} catch (error) {
				for (const { reject } of waiting) reject(error);
				this.#drops.unshift(...drops);
				// The call may have reached the store all the same.
				if (store.shared) this.#retry([...releases, ...claims]);
				if (this.#queuedClaims.length === 0) break;
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
