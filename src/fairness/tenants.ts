/**
 * Tenants: each account, and each network of callers without an account. Networks are cheap to get (an IPv6 prefix of 48 bits
 * has 65,536 of them), so all of them together count as one tenant beside accounts.
 */
import { addressNetwork } from "./address-network.ts";

const NETWORK = "address:";
/** No account has this name. */
const ANONYMOUS = "strangers";

/** Returns the tenant of callers without an account from an address. */
export function networkTenant(address: string): string {
	return `${NETWORK}${addressNetwork(address)}`;
}

/** Returns true for the network of callers without an account. */
export function isNetworkTenant(tenant: string): boolean {
	return tenant.startsWith(NETWORK);
}

/** Returns the party that counts beside accounts: the account itself, or all callers without one. */
export function partyOf(tenant: string): string {
	return isNetworkTenant(tenant) ? ANONYMOUS : tenant;
}
