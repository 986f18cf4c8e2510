import { SharedCapacity, type Taken } from "./shared-capacity.ts";

/**
 * An account; a caller without one; a caller whose key is still looked up, who may be either; a wallet whose signature is
 * still checked.
 */
export type CallerKind = "account" | "stranger" | "unidentified" | "signing";

/**
 * The places of requests under way. Each account is a tenant of them. Networks are cheap to come by (who has one IPv6
 * prefix of 48 bits has 65,536 of them): all callers without an account are one tenant together, and those whose
 * key is looked up and those whose signature is checked two more. Within such a crowd each network has its share.
 */
export class Places {
	readonly #all: SharedCapacity;
	readonly #crowds: Readonly<Record<Exclude<CallerKind, "account">, SharedCapacity>>;

	constructor(limit: number) {
		this.#all = new SharedCapacity(limit);
		const half = () => new SharedCapacity(Math.max(1, Math.floor(limit / 2)));
		// A look-up takes an instant: a network that brings many at once, as an account after a start does, is not held back.
		// A signature may take a chain's node as long as it likes.
		this.#crowds = { stranger: half(), unidentified: new SharedCapacity(limit), signing: half() };
	}

	/** Takes a place: "full" where none is left for callers of the kind, "share" where the tenant has its share. */
	take(tenant: string, kind: CallerKind): Taken {
		if (kind === "account") return this.#all.take(tenant, 1);
		const crowd = this.#crowds[kind];
		const taken = crowd.take(tenant, 1);
		if (taken !== "taken" || this.#all.take(kind, 1) === "taken") return taken;
		crowd.giveBack(tenant, 1);
		return "full";
	}

	giveBack(tenant: string, kind: CallerKind): void {
		this.#all.giveBack(kind === "account" ? tenant : kind, 1);
		if (kind !== "account") this.#crowds[kind].giveBack(tenant, 1);
	}

	usedBy(tenant: string, kind: CallerKind): number {
		return (kind === "account" ? this.#all : this.#crowds[kind]).usedBy(tenant);
	}
}
