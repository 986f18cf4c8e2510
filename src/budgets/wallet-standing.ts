import { type Nano, nano } from "../ledger/nano.ts";

/** A wallet must have so much to be served at all, unless it has diem: 0.10 USD (docs/wallets.md). */
export const WALLET_FLOOR: Nano = nano(100_000_000);

/** Whether a wallet is served now: with so much of its own, or any diem of the account that it is linked to. */
export function walletMayConsume({ usd, diem }: { readonly usd: Nano; readonly diem: Nano }): boolean {
	return diem > 0 || usd >= WALLET_FLOOR;
}
