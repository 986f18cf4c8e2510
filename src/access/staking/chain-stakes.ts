import type { StorePort } from "../../store/port.ts";
import type { Stakes } from "./port.ts";
import type { StakingContract } from "./staking-contract.ts";

/** Reads current stakes from the chain, except for accounts whose stake the operator set. */
export class ChainStakes implements Stakes {
	readonly #store: Pick<StorePort, "admin">;
	readonly #contract: StakingContract;

	constructor(store: Pick<StorePort, "admin">, contract: StakingContract) {
		this.#store = store;
		this.#contract = contract;
	}

	async hasStake(wallet: string, nowMs: number): Promise<boolean> {
		const standing = await this.#store.admin("walletStanding", { wallet, nowMs });
		if (standing?.source === "operator") return standing.stake > 0;
		const stake = await this.#contract.stake(wallet, "latest");
		return stake !== "reverted" && stake > 0n;
	}
}
