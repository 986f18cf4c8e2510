/** "full": so much is not free. "share": the tenant has its share. */
export type Taken = "taken" | "full" | "share";

/**
 * A capacity that tenants share by a dynamic threshold: a tenant may take more while what it has is at most what is
 * still free (Choudhury and Hahne, "Dynamic Queue Length Thresholds", 1998, with alpha 1). One tenant alone gets half;
 * each of n gets one part of n + 1, and the last part stays free for whoever comes next.
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
	 * Takes `amount` for a tenant; "full" where it is not free, "share" where the tenant has its share.
	 * @param held what the same piece of work has taken already: a tenant's only one needs no more than free room
	 */
	take(tenant: string, amount: number, held = 0): Taken {
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
