import type { Nano } from "../ledger/nano.ts";
import { WALLET_FLOOR } from "./wallet-caller.ts";

/** Whether a wallet is served now: with so much of its own, or any diem of the account that it is linked to. */
export function walletMayConsume({ usd, diem }: { readonly usd: Nano; readonly diem: Nano }): boolean {
	return diem > 0 || usd >= WALLET_FLOOR;
}
