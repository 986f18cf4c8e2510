/**
 * Who has a share. An account is a tenant; so is the network of callers without an account. Networks are cheap to come
 * by (who has one IPv6 prefix of 48 bits has 65,536 of them), so all of them together count as one tenant beside accounts.
 */
import { addressNetwork } from "./address-network.ts";

const NETWORK = "address:";
/** No account has this name. */
const ANONYMOUS = "strangers";

/** The tenant of callers without an account who come from an address. */
export function networkTenant(address: string): string {
	return `${NETWORK}${addressNetwork(address)}`;
}

/** True for the network of callers without an account. */
export function isNetworkTenant(tenant: string): boolean {
	return tenant.startsWith(NETWORK);
}

/** The tenant that counts beside accounts: the account itself, or all callers without one. */
export function partyOf(tenant: string): string {
	return isNetworkTenant(tenant) ? ANONYMOUS : tenant;
}
