import { SharedCapacity, type TakeResult } from "./shared-capacity.ts";

/**
 * An account; a caller without one; a caller whose key is being looked up, who may be either; a wallet whose signature is being
 * checked.
 */
export type CallerKind = "account" | "stranger" | "unidentified" | "signing";

/**
 * The places for concurrent requests. Each account is a tenant. Networks are cheap to get (an IPv6 prefix of 48 bits
 * has 65,536 of them), so all callers without an account are one tenant. Callers in key look-up are another, and
 * callers in signature checks a third. Within such a group each network has its share.
 */
export class Places {
	readonly #total: SharedCapacity;
	readonly #groups: Readonly<Record<Exclude<CallerKind, "account">, SharedCapacity>>;

	constructor(limit: number) {
		this.#total = new SharedCapacity(limit);
		const half = () => new SharedCapacity(Math.max(1, Math.floor(limit / 2)));
		// A look-up takes an instant, so a network with many at once, as after a restart, is not delayed. A signature may wait for
		// a chain's node for a long time.
		this.#groups = { stranger: half(), unidentified: new SharedCapacity(limit), signing: half() };
	}

	/** Takes a place: "full" if none is left for this kind of caller, "share" if the tenant has used its share. */
	take(tenant: string, kind: CallerKind): TakeResult {
		if (kind === "account") return this.#total.take(tenant, 1);
		const group = this.#groups[kind];
		const result = group.take(tenant, 1);
		if (result !== "taken" || this.#total.take(kind, 1) === "taken") return result;
		group.giveBack(tenant, 1);
		return "full";
	}

	giveBack(tenant: string, kind: CallerKind): void {
		this.#total.giveBack(kind === "account" ? tenant : kind, 1);
		if (kind !== "account") this.#groups[kind].giveBack(tenant, 1);
	}

	usedBy(tenant: string, kind: CallerKind): number {
		return (kind === "account" ? this.#total : this.#groups[kind]).usedBy(tenant);
	}
}
