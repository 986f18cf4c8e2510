import { BlockList, isIP, isIPv6 } from "node:net";

/**
 * Address ranges that no caller may send us to: private, loopback, link-local, shared, multicast, reserved (RFC 6890).
 */
const blocked = new BlockList();
for (const [network, prefix] of [
	["0.0.0.0", 8],
	["10.0.0.0", 8],
	["100.64.0.0", 10],
	["127.0.0.0", 8],
	["169.254.0.0", 16],
	["172.16.0.0", 12],
	["192.0.0.0", 24],
	["192.168.0.0", 16],
	["198.18.0.0", 15],
	["224.0.0.0", 3],
] as const)
	blocked.addSubnet(network, prefix, "ipv4");
for (const [network, prefix] of [
	["::", 96],
	["2002::", 16],
	["fec0::", 10],
	["64:ff9b::", 96],
	["fc00::", 7],
	["fe80::", 10],
	["ff00::", 8],
] as const)
	blocked.addSubnet(network, prefix, "ipv6");

/**
 * Returns true for a host that is a non-public address by its text. Names are checked again where they are resolved and
 * connected to.
 */
export function forbiddenAddress(hostname: string): boolean {
	const host = hostname.replace(/^\[|\]$|\.+$/g, "").toLowerCase();
	if (host === "localhost" || host.endsWith(".localhost") || host.endsWith(".local") || host.endsWith(".internal")) return true;
	if (isIP(host) === 0) return false;
	const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(host);
	if (mapped) {
		const high = Number.parseInt(mapped[1] ?? "0", 16);
		const low = Number.parseInt(mapped[2] ?? "0", 16);
		return blocked.check(`${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`, "ipv4");
	}
	return blocked.check(host, isIPv6(host) ? "ipv6" : "ipv4");
}
