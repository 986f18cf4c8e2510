import type { ClaimRequest, ReleasedClaim, StoredClaim } from "../idempotency.ts";

interface RunningClaim extends ClaimRequest {
	readonly nodeId: string;
}

/**
 * Idempotency keys whose requests run on one of several workers. They live in the process that owns the store, since
 * no request outlives it.
 */
export class RunningClaims {
	readonly #byKey = new Map<string, RunningClaim>();

	/** Returns what blocks a request whose key another request holds; null where none does. */
	blocker(claim: ClaimRequest): StoredClaim | null {
		const running = this.#byKey.get(keyOf(claim));
		if (running === undefined || running.claim === claim.claim) return null;
		return { kind: running.fingerprint === claim.fingerprint ? "running" : "reused" };
	}

	/** Takes a key that nothing blocks. */
	take(nodeId: string, claim: ClaimRequest): void {
		this.#byKey.set(keyOf(claim), { ...claim, nodeId });
	}

	/** Ends a claim that still holds its key. */
	release(claim: ReleasedClaim): void {
		const key = keyOf(claim);
		if (this.#byKey.get(key)?.claim === claim.claim) this.#byKey.delete(key);
	}

	/** Ends all claims of a node whose boot has ended. */
	endAll(nodeId: string): void {
		for (const [key, running] of this.#byKey) if (running.nodeId === nodeId) this.#byKey.delete(key);
	}
}

function keyOf({ accountId, key }: { readonly accountId: string; readonly key: string }): string {
	return JSON.stringify([accountId, key]);
}
