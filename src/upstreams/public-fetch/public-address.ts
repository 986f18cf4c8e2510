import ipaddr from "ipaddr.js";

/** The IPv6 addresses that are routed (RFC 4291, section 2.4). IPv4-compatible and translated addresses are outside. */
const GLOBAL_UNICAST = ipaddr.IPv6.parse("2000::");
/** Azure's wire server: a public number that is inside every machine there. */
const INSIDE_CLOUDS = new Set(["168.63.129.16"]);

/**
 * Returns true for an address of the public internet. False for loopback, private, link-local, shared (CGNAT),
 * multicast, reserved, documentation and tunnel addresses. False also for IPv6 that contains an IPv4 address (mapped,
 * compatible, NAT64, 6to4, Teredo).
 */
export function isPublicAddress(address: string): boolean {
	if (!ipaddr.isValid(address) || INSIDE_CLOUDS.has(address)) return false;
	const parsed = ipaddr.parse(address);
	if (parsed.range() !== "unicast") return false;
	return parsed instanceof ipaddr.IPv4 || parsed.match(GLOBAL_UNICAST, 3);
}
