import type { RetainedCap } from "../store/port.ts";
import type { SpendingWindow } from "./spending-window.ts";

/** A key that has, or had, leases of its limits. */
export interface CapHolder {
	readonly keyId: string;
	/** Returns its windows, each of one day. */
	windows(): Iterable<SpendingWindow>;
}

/** What this node has leased of the limits of one account's keys; it is returned together with the account's money. */
export class LeasedCaps {
	readonly #holders = new Set<CapHolder>();
	/** True if the store may have leases that this object does not know. */
	#isUncertain: boolean;
	#used = false;

	constructor(unsure: boolean) {
		this.#isUncertain = unsure;
	}

	/** Call before limits of a key are requested from the store. */
	add(holder: CapHolder): void {
		this.#holders.add(holder);
		this.#used = true;
	}

	/** Marks the leases as uncertain: another node lacks limits, and a failover may have lost an earlier return. */
	invalidate(): void {
		this.#isUncertain ||= this.#used;
	}

	/** Returns true if something can be returned. */
	get hasLeases(): boolean {
		return this.#isUncertain || this.#holders.size > 0;
	}

	/** Returns true if something is leased that no hold needs. */
	get hasIdleLeases(): boolean {
		for (const window of this.#windows()) if (window.idleLease) return true;
		return false;
	}

	/**
	 * Drops all limits that no hold needs, and returns the retained ones for the store; undefined if the store need
	 * not be called. Call `onReturned` afterwards.
	 */
	dropIdle(): RetainedCap[] | undefined {
		if (!this.hasLeases) return undefined;
		this.#isUncertain = true;
		const retainedCaps: RetainedCap[] = [];
		for (const holder of this.#holders) {
			for (const window of holder.windows()) {
				const { usd, diem } = window.cutLease();
				if (usd + diem > 0) retainedCaps.push({ keyId: holder.keyId, day: window.start, usd, diem });
			}
		}
		return retainedCaps;
	}

	/** Handles the store's confirmation of what was retained. */
	onReturned(): void {
		this.#isUncertain = false;
		for (const holder of this.#holders) if ([...holder.windows()].every((window) => !window.inUse)) this.#holders.delete(holder);
	}

	/** Drops all leases, because the store ended them. */
	expire(): void {
		this.#isUncertain = false;
		for (const window of this.#windows()) window.expireLease();
	}

	/**
	 * Removes the account from the cache: nothing is leased any more. Returns true if the store may still have a
	 * lease.
	 */
	retire(): boolean {
		const leased = this.hasLeases;
		for (const window of this.#windows()) window.expireLease();
		this.#holders.clear();
		this.#isUncertain = false;
		return leased;
	}

	*#windows(): Iterable<SpendingWindow> {
		for (const holder of this.#holders) yield* holder.windows();
	}
}
