import { BlockList, isIP, isIPv6 } from "node:net";

/** A list of addresses and CIDR ranges. Throws `TypeError` on an entry that is neither. */
export function addressList(entries: readonly string[]): { readonly empty: boolean; has(address: string): boolean } {
	const list = new BlockList();
	for (const entry of entries) {
		const [address = "", prefix, ...rest] = entry.split("/");
		const family = isIPv6(address) ? "ipv6" : "ipv4";
		if (isIP(address) === 0 || rest.length > 0) throw new TypeError(`not an address or CIDR range: ${entry}`);
		if (prefix === undefined) list.addAddress(address, family);
		else list.addSubnet(address, Number(prefix), family);
	}
	return {
		empty: entries.length === 0,
		has: (address) => isIP(address) !== 0 && list.check(address, isIPv6(address) ? "ipv6" : "ipv4"),
	};
}

/** `::ffff:192.0.2.1` is 192.0.2.1: dual-stack sockets write IPv4 peers that way. */
function plainAddress(address: string): string {
	return address.startsWith("::ffff:") && address.includes(".") ? address.slice(7) : address;
}

/** True for an address of this machine itself. */
export function isLoopback(address: string): boolean {
	return LOOPBACK.has(address);
}

const LOOPBACK = addressList(["127.0.0.0/8", "::1"]);

/**
 * The client's address: the socket's, unless that is a trusted proxy; then, from Forwarded or X-Forwarded-For,
 * the rightmost address that is not a trusted proxy.
 */
export function clientAddress(socket: string, headers: Headers, trusted: ReturnType<typeof addressList>): string {
	const direct = plainAddress(socket);
	if (trusted.empty || !trusted.has(direct)) return direct;
	const hops = forwardedFor(headers);
	for (let index = hops.length - 1; index >= 0; index--) {
		const hop = hops[index] ?? "";
		if (isIP(hop) === 0) return direct;
		if (!trusted.has(hop)) return hop;
	}
	return hops[0] ?? direct;
}

function forwardedFor(headers: Headers): string[] {
	const forwarded = headers.get("forwarded");
	if (forwarded !== null) {
		const found = [...forwarded.matchAll(/for=("?)([^";,\s]+)\1/gi)].map((match) => match[2] ?? "");
		return found.map(hopAddress);
	}
	return (headers.get("x-forwarded-for") ?? "")
		.split(",")
		.map((hop) => hopAddress(hop.trim()))
		.filter((hop) => hop !== "");
}

function hopAddress(hop: string): string {
	const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(hop);
	if (bracketed) return plainAddress(bracketed[1] ?? "");
	const withPort = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(hop);
	return plainAddress(withPort?.[1] ?? hop);
}
