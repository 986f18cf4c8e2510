import { SharedCapacity, type TakeResult } from "./shared-capacity.ts";
import { isNetworkTenant, partyOf } from "./tenants.ts";

/**
 * A capacity that accounts share. All callers without an account have half of it together, and each network has a share of that
 * half. So any number of networks leaves capacity for accounts.
 */
export class PartyCapacity {
	readonly #total: SharedCapacity;
	readonly #anonymous: SharedCapacity;

	constructor(limit: number) {
		this.#total = new SharedCapacity(limit);
		this.#anonymous = new SharedCapacity(Math.max(1, Math.floor(limit / 2)));
	}

	get limit(): number {
		return this.#total.limit;
	}

	get used(): number {
		return this.#total.used;
	}

	usedBy(tenant: string): number {
		return isNetworkTenant(tenant) ? this.#anonymous.usedBy(tenant) : this.#total.usedBy(tenant);
	}

	/** Works like `SharedCapacity.take`. */
	take(tenant: string, amount: number, held = 0): TakeResult {
		if (!isNetworkTenant(tenant)) return this.#total.take(tenant, amount, held);
		const result = this.#anonymous.take(tenant, amount, held);
		if (result !== "taken" || this.#total.take(partyOf(tenant), amount, held) === "taken") return result;
		this.#anonymous.giveBack(tenant, amount);
		return "full";
	}

	giveBack(tenant: string, amount: number): void {
		if (isNetworkTenant(tenant)) this.#anonymous.giveBack(tenant, amount);
		this.#total.giveBack(partyOf(tenant), amount);
	}
}
