/** "full": the amount is not free. "share": the tenant has used its share. */
export type TakeResult = "taken" | "full" | "share";

/**
 * A capacity that tenants share by a dynamic threshold: a tenant may take more while its use is at most the free amount
 * (Choudhury and Hahne, "Dynamic Queue Length Thresholds", 1998, with alpha 1). One tenant alone gets half; each of n gets one
 * part of n + 1, and the last part stays free for the next tenant.
 */
export class SharedCapacity {
	readonly limit: number;
	readonly #byTenant = new Map<string, number>();
	#used = 0;

	constructor(limit: number) {
		this.limit = limit;
	}

	get used(): number {
		return this.#used;
	}

	usedBy(tenant: string): number {
		return this.#byTenant.get(tenant) ?? 0;
	}

	/**
	 * Takes `amount` for a tenant; "full" if it is not free, "share" if the tenant has used its share.
	 * @param held the amount that the same piece of work already has: a tenant's only piece needs only free capacity
	 */
	take(tenant: string, amount: number, held = 0): TakeResult {
		const free = this.limit - this.#used - amount;
		if (free < 0) return "full";
		const has = this.usedBy(tenant);
		if (has > held && has + amount > free) return "share";
		this.#used += amount;
		this.#byTenant.set(tenant, has + amount);
		return "taken";
	}

	giveBack(tenant: string, amount: number): void {
		this.#used -= amount;
		const left = this.usedBy(tenant) - amount;
		if (left > 0) this.#byTenant.set(tenant, left);
		else this.#byTenant.delete(tenant);
	}
}
