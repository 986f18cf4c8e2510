import { type Nano, nano } from "../ledger/nano.ts";

/** Minimum balance of a wallet that has no diem: 0.10 USD (docs/wallets.md). */
export const WALLET_FLOOR: Nano = nano(100_000_000);

/**
 * Returns true if the wallet may be served now: its own balance reaches the minimum, or its linked account has
 * diem.
 */
export function walletMayConsume({ usd, diem }: { readonly usd: Nano; readonly diem: Nano }): boolean {
	return diem > 0 || usd >= WALLET_FLOOR;
}
