import type { Nano } from "../ledger/nano.ts";
import type { Account, ApiKey } from "../store/port.ts";

/** A known caller: key and account as cached on this node. All requests of a key share one object. */
export interface Caller {
	/** For a wallet this is a substitute: its id is the wallet's name, and no record contains it. */
	readonly key: ApiKey;
	readonly account: Account;
	/** Identity of the wallet that signed in, such as `eip155:8453:0x...`; null if a key calls. */
	readonly wallet: string | null;
	/** Returns the amounts of the balance headers: what the store holds, minus own posts that it has not applied. */
	balances(): { readonly usd: Nano; readonly diem: Nano };
}
