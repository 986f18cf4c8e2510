import { lookup } from "node:dns/promises";
import { PublicFetchFault } from "./port.ts";
import { isPublicAddress } from "./public-address.ts";
import { privateHost, type Target } from "./public-url.ts";

/** Returns the addresses of a name. Throws if it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Resolves with the system's resolver, IPv4 first, since many machines have no IPv6 route. */
export const systemResolve: Resolve = async (host) =>
	(await lookup(host, { all: true, order: "ipv4first" })).map(({ address }) => address);

/** Maximum number of addresses of a host that are tried. */
const MAX_ADDRESSES = 4;

/**
 * Returns the addresses to which a target may connect. One private address refuses the host: such a name may be an
 * attack, and its next answer cannot be predicted.
 * @throws PublicFetchFault
 */
export async function addressesOf({ host, isAddress, trusted }: Target, resolve: Resolve): Promise<readonly string[]> {
	if (isAddress) return [host];
	let addresses: readonly string[];
	try {
		addresses = await resolve(host);
	} catch (fault) {
		throw new PublicFetchFault("unknown_host", `The host ${host} is not known`, fault);
	}
	if (addresses.length === 0) throw new PublicFetchFault("unknown_host", `The host ${host} is not known`);
	if (!trusted && !addresses.every(isPublicAddress)) throw privateHost(host);
	return addresses.slice(0, MAX_ADDRESSES);
}
