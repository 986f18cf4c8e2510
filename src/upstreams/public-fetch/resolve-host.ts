import { lookup } from "node:dns/promises";
import { PublicFetchFault } from "./port.ts";
import { isPublicAddress } from "./public-address.ts";
import { privateHost, type Target } from "./public-url.ts";

/** The addresses of a name. Throws where it has none. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** The system's resolver; IPv4 first, as many machines have no way out over IPv6. */
export const systemResolve: Resolve = async (host) =>
	(await lookup(host, { all: true, order: "ipv4first" })).map(({ address }) => address);

/** Addresses of one host that are tried. */
const MAX_ADDRESSES = 4;

/**
 * The addresses that a target may be connected to. One private address among them refuses the host: a name that leads
 * both ways is an attempt, and which way it leads next is not ours to guess.
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
