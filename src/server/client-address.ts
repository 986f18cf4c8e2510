import { BlockList, isIP, isIPv6 } from "node:net";

/**
 * Returns a list of addresses and CIDR ranges.
 * @throws TypeError if an entry is neither
 */
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

/** Matches an IPv4-mapped address (RFC 4291 2.5.5.2) with its last 32 bits in either form. */
const MAPPED = /^(?:::|(?:0{1,4}:){5})ffff:(?:(\d+\.\d+\.\d+\.\d+)|([0-9a-f]{1,4}):([0-9a-f]{1,4}))$/i;

/** Returns `192.0.2.1` for `::ffff:192.0.2.1`: dual-stack sockets write IPv4 peers that way. */
function plainAddress(address: string): string {
	const [, dotted, high, low] = MAPPED.exec(address) ?? [];
	if (high === undefined || low === undefined) return dotted ?? address;
	const bits = Number.parseInt(high, 16) * 65_536 + Number.parseInt(low, 16);
	return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 255).join(".");
}

/** Returns true for a loopback address of this machine. */
export function isLoopback(address: string): boolean {
	return LOOPBACK.has(address);
}

const LOOPBACK = addressList(["127.0.0.0/8", "::1"]);

/** The trusted proxies, and the one header in which they report the client. */
export interface ProxyTrust {
	readonly proxies: ReturnType<typeof addressList>;
	/** The header's name in lower case. `forwarded` is read by RFC 7239, any other header as a list of addresses. */
	readonly header: string;
}

/** Used if a trusted proxy names no readable address. It is in no list, so it grants nothing. */
const UNKNOWN_ADDRESS = "unknown";

/**
 * Returns the client's address: the socket's, unless that is a trusted proxy; then the rightmost address of the trusted
 * header that is no trusted proxy. Other headers are ignored, since a proxy passes on those that it does not set.
 */
export function clientAddress(socket: string, headers: Headers, { proxies, header }: ProxyTrust): string {
	const direct = plainAddress(socket);
	if (proxies.empty || !proxies.has(direct)) return direct;
	const text = headers.get(header);
	if (text === null) return direct;
	const hops = header === "forwarded" ? forwardedFor(text) : text.split(",");
	let address = UNKNOWN_ADDRESS;
	for (let index = hops.length - 1; index >= 0; index--) {
		const hop = hopAddress(hops[index] ?? "");
		if (isIP(hop) === 0) return UNKNOWN_ADDRESS;
		address = hop;
		if (!proxies.has(hop)) break;
	}
	return address;
}

/** Matches an element of Forwarded up to its end: pairs of a token and a token or a quoted string (RFC 7239 4). */
const PAIR = /[ \t]*(?:([\w!#$%&'*+.^`|~-]+)=([\w!#$%&'*+.^`|~:[\]-]+|"(?:[^"\\]|\\.)*")[ \t]*)?([;,]|$)/y;

/**
 * Returns the `for` of each element, or nothing if the header breaks the grammar. Otherwise an open quote from the
 * caller could swallow what the proxy appended.
 */
function forwardedFor(text: string): string[] {
	const hops: string[] = [];
	let hop = "";
	PAIR.lastIndex = 0;
	for (;;) {
		const [, name, value = "", end] = PAIR.exec(text) ?? [];
		if (end === undefined) return [];
		if (name?.toLowerCase() === "for") hop = value.startsWith('"') ? value.slice(1, -1) : value;
		if (end === ";") continue;
		hops.push(hop);
		if (end === "") return hops;
		hop = "";
	}
}

/** Returns an address without its port, brackets and spaces. */
function hopAddress(text: string): string {
	const hop = text.trim().toLowerCase();
	const bracketed = /^\[([^\]]+)\](?::\d+)?$/.exec(hop);
	if (bracketed) return plainAddress(bracketed[1] ?? "");
	const withPort = /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(hop);
	return plainAddress(withPort?.[1] ?? hop);
}
