import ipaddr from "ipaddr.js";

/** IPv6 that is routed at all (RFC 4291 section 2.4); outside lie the IPv4-compatible and translated forms. */
const GLOBAL_UNICAST = ipaddr.IPv6.parse("2000::");
/** Azure's wire server: public by its number, and inside every machine there. */
const INSIDE_CLOUDS = new Set(["168.63.129.16"]);

/**
 * True for an address of the public internet: not loopback, private, link-local, shared (CGNAT), multicast, reserved,
 * for documentation or for tunnels, and no IPv6 that carries an IPv4 address within it (mapped, compatible, NAT64, 6to4,
 * Teredo).
 */
export function isPublicAddress(address: string): boolean {
	if (!ipaddr.isValid(address) || INSIDE_CLOUDS.has(address)) return false;
	const parsed = ipaddr.parse(address);
	if (parsed.range() !== "unicast") return false;
	return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_UNICAST, 3);
}
