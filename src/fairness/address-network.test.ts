import { expect, test } from "bun:test";
import { addressNetwork } from "./index.ts";

test("an IPv4 address is a network of its own", () => {
	expect(addressNetwork("192.0.2.7")).toBe("192.0.2.7");
	expect(addressNetwork("")).toBe("");
});

test("all IPv6 addresses of a subscriber are one network, however they are written", () => {
	const network = "2001:db8:0:7::/64";
	for (const address of ["2001:db8:0:7::1", "2001:db8:0:7:ffff:1:2:3", "2001:0DB8:0000:0007::", "2001:db8::7:0:0:0:1"])
		expect(addressNetwork(address), address).toBe(network);
	expect(addressNetwork("2001:db8:0:8::1")).not.toBe(network);
	expect(addressNetwork("::1")).toBe("0:0:0:0::/64");
	expect(addressNetwork("fe80::1%eth0")).toBe("fe80:0:0:0::/64");
});
