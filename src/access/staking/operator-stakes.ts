import type { StorePort } from "../../store/port.ts";
import type { Stakes } from "./port.ts";

/** Reads stakes that the operator set. */
export class OperatorStakes implements Stakes {
	readonly #store: Pick<StorePort, "admin">;

	constructor(store: Pick<StorePort, "admin">) {
		this.#store = store;
	}

	async hasStake(wallet: string, nowMs: number): Promise<boolean> {
		const standing = await this.#store.admin("walletStanding", { wallet, nowMs });
		return standing !== null && standing.stake > 0;
	}
}
