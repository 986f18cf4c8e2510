import type { RetainedCap } from "../store/port.ts";
import type { SpendingWindow } from "./spending-window.ts";

/** A key that has, or had, leases of its limits. */
export interface CapHolder {
	readonly keyId: string;
	/** Its windows, each of a day. */
	windows(): Iterable<SpendingWindow>;
}

/** What this node has leased of the limits of one account's keys: goes back with the account's money. */
export class LeasedCaps {
	readonly #holders = new Set<CapHolder>();
	/** The store may have leases that are not known here. */
	#isUncertain: boolean;
	#used = false;

	constructor(unsure: boolean) {
		this.#isUncertain = unsure;
	}

	/** Call before the store is asked for the limits of a key. */
	add(holder: CapHolder): void {
		this.#holders.add(holder);
		this.#used = true;
	}

	/** Another node lacks something: leases whose return a failover lost are found out, too. */
	invalidate(): void {
		this.#isUncertain ||= this.#used;
	}

	/** True where something may go back. */
	get any(): boolean {
		return this.#isUncertain || this.#holders.size > 0;
	}

	/** True where something is leased that no hold needs. */
	get idle(): boolean {
		for (const window of this.#windows()) if (window.idleLease) return true;
		return false;
	}

	/** What holds need stays, the rest is gone here. undefined: there is nothing to tell the store. Ends with `returned`. */
	cut(): RetainedCap[] | undefined {
		if (!this.any) return undefined;
		this.#isUncertain = true;
		const kept: RetainedCap[] = [];
		for (const holder of this.#holders) {
			for (const window of holder.windows()) {
				const { usd, diem } = window.cutLease();
				if (usd + diem > 0) kept.push({ keyId: holder.keyId, day: window.start, usd, diem });
			}
		}
		return kept;
	}

	/** The store knows what was kept. */
	onReturned(): void {
		this.#isUncertain = false;
		for (const holder of this.#holders) if ([...holder.windows()].every((window) => !window.inUse)) this.#holders.delete(holder);
	}

	/** The store ended this node's leases. */
	expire(): void {
		this.#isUncertain = false;
		for (const window of this.#windows()) window.expireLease();
	}

	/** The account leaves the cache: nothing is leased here any more. True where the store may still know of something. */
	retire(): boolean {
		const leased = this.any;
		for (const window of this.#windows()) window.expireLease();
		this.#holders.clear();
		this.#isUncertain = false;
		return leased;
	}

	*#windows(): Iterable<SpendingWindow> {
		for (const holder of this.#holders) yield* holder.windows();
	}
}
