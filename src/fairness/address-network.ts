import { isIPv6 } from "node:net";

/**
 * Returns the network that one caller may control: an IPv4 address itself, or the first 64 bits of an IPv6 address, because
 * each subscriber has that many addresses (RFC 6177).
 */
export function addressNetwork(address: string): string {
	if (!isIPv6(address)) return address;
	const [before = "", after] = address.split("%")[0]?.split("::") ?? [];
	const head = before === "" ? [] : before.split(":");
	const tail = after === undefined || after === "" ? [] : after.split(":");
	const zeros = after === undefined ? [] : Array.from({ length: Math.max(0, 8 - head.length - tail.length) }, () => "0");
	return `${[...head, ...zeros, ...tail]
		.slice(0, 4)
		.map((group) => group.replace(/^0+(?=.)/, "").toLowerCase())
		.join(":")}::/64`;
}
