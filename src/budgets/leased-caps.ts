import type { KeptCap } from "../store/port.ts";
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
	#unsure: boolean;
	#used = false;

	constructor(unsure: boolean) {
		this.#unsure = unsure;
	}

	/** Call before the store is asked for the limits of a key. */
	add(holder: CapHolder): void {
		this.#holders.add(holder);
		this.#used = true;
	}

	/** Another node lacks something: leases whose return a failover lost are found out, too. */
	doubt(): void {
		this.#unsure ||= this.#used;
	}

	/** True where something may go back. */
	get any(): boolean {
		return this.#unsure || this.#holders.size > 0;
	}

	/** True where something is leased that no hold needs. */
	get idle(): boolean {
		for (const window of this.#windows()) if (window.idleLease) return true;
		return false;
	}

	/** What holds need stays, the rest is gone here. undefined: there is nothing to tell the store. Ends with `returned`. */
	cut(): KeptCap[] | undefined {
		if (!this.any) return undefined;
		this.#unsure = true;
		const kept: KeptCap[] = [];
		for (const holder of this.#holders) {
			for (const window of holder.windows()) {
				const { usd, diem } = window.cutLease();
				if (usd + diem > 0) kept.push({ keyId: holder.keyId, day: window.start, usd, diem });
			}
		}
		return kept;
	}

	/** The store knows what was kept. */
	returned(): void {
		this.#unsure = false;
		for (const holder of this.#holders) if ([...holder.windows()].every((window) => !window.inUse)) this.#holders.delete(holder);
	}

	/** The store ended this node's leases. */
	lapse(): void {
		this.#unsure = false;
		for (const window of this.#windows()) window.lapseLease();
	}

	/** The account leaves the cache: nothing is leased here any more. True where the store may still know of something. */
	retire(): boolean {
		const leased = this.any;
		for (const window of this.#windows()) window.lapseLease();
		this.#holders.clear();
		this.#unsure = false;
		return leased;
	}

	*#windows(): Iterable<SpendingWindow> {
		for (const holder of this.#holders) yield* holder.windows();
	}
}
