import { expect, test } from "bun:test";
import { addressList, clientAddress } from "./client-address.ts";

const proxies = addressList(["10.0.0.0/8", "fd00::/8", "192.0.2.7"]);
const headers = (entries: Record<string, string>) => new Headers(entries);
const X = { proxies, header: "x-forwarded-for" };
const FORWARDED = { proxies, header: "forwarded" };
const byX = (value: string) => clientAddress("10.0.0.1", headers({ "x-forwarded-for": value }), X);
const byForwarded = (value: string) => clientAddress("10.0.0.1", headers({ forwarded: value }), FORWARDED);

test("is the socket's address where no proxy is trusted, whatever the headers say", () => {
	const nobody = { ...X, proxies: addressList([]) };
	expect(clientAddress("198.51.100.1", headers({ "x-forwarded-for": "1.2.3.4" }), nobody)).toBe("198.51.100.1");
	expect(clientAddress("198.51.100.1", headers({ "x-forwarded-for": "1.2.3.4" }), X)).toBe("198.51.100.1");
	expect(clientAddress("198.51.100.1", headers({ forwarded: "for=1.2.3.4" }), FORWARDED)).toBe("198.51.100.1");
});

test("is the rightmost address that is no trusted proxy", () => {
	expect(byX("1.2.3.4, 5.6.7.8, 10.9.9.9")).toBe("5.6.7.8");
	expect(byX("10.1.1.1, 10.2.2.2")).toBe("10.1.1.1");
	expect(byX("garbage, 5.6.7.8")).toBe("5.6.7.8");
	expect(byX("1.2.3.4:5678")).toBe("1.2.3.4");
	expect(byX("[2001:DB8::1]:443")).toBe("2001:db8::1");
	expect(byX("2001:db8::1")).toBe("2001:db8::1");
	expect(byForwarded('for=1.2.3.4, for="[2001:db8::1]:4711";proto=https')).toBe("2001:db8::1");
	expect(byForwarded("FOR=1.2.3.4;host=a, By=10.0.0.9 ; For=5.6.7.8,for=10.0.0.2")).toBe("5.6.7.8");
});

test("believes the one header that is named", () => {
	const both = headers({ "x-forwarded-for": "1.2.3.4", forwarded: "for=5.6.7.8", "x-real-ip": "9.9.9.9" });
	expect(clientAddress("10.0.0.1", both, X)).toBe("1.2.3.4");
	expect(clientAddress("10.0.0.1", both, FORWARDED)).toBe("5.6.7.8");
	expect(clientAddress("10.0.0.1", both, { proxies, header: "x-real-ip" })).toBe("9.9.9.9");
	expect(clientAddress("10.0.0.1", headers({ forwarded: "for=5.6.7.8" }), X)).toBe("10.0.0.1");
	expect(clientAddress("10.0.0.1", headers({ "x-forwarded-for": "5.6.7.8" }), FORWARDED)).toBe("10.0.0.1");
});

test("is nobody's address where the header cannot be read, never the proxy's own", () => {
	for (const value of [
		"",
		"unknown",
		"_hidden",
		"1.2.3.4, ",
		"1.2.3.4.5",
		"1.2.3.4 5.6.7.8",
		"example.org",
		"for=1.2.3.4",
		"1.2.3.4, x",
	])
		expect(`${value}: ${byX(value)}`).toBe(`${value}: unknown`);
	for (const value of ["", "1.2.3.4", "for=unknown", "proto=https", "for=1.2.3.4, proto=https", "for=1.2.3.4,", "xfor=1.2.3.4"])
		expect(`${value}: ${byForwarded(value)}`).toBe(`${value}: unknown`);
});

test("does not let a caller's quotes take in what the proxy wrote", () => {
	expect(byForwarded('for="1.2.3.4, for=5.6.7.8')).toBe("unknown");
	expect(byForwarded('for=5.6.7.8;host="a, for=1.2.3.4"')).toBe("5.6.7.8");
	expect(byForwarded('for=5.6.7.8;by="\\", for=1.2.3.4"')).toBe("5.6.7.8");
	expect(byForwarded('for=1.2.3.4;x=", for=5.6.7.8;host="h"')).toBe("unknown");
});

test("is the socket's address where a trusted proxy names nobody: it calls for itself", () => {
	expect(clientAddress("10.0.0.1", headers({}), X)).toBe("10.0.0.1");
});

test("reads IPv4 peers of a dual-stack socket", () => {
	expect(clientAddress("::ffff:10.0.0.1", headers({ "x-forwarded-for": "::FFFF:1.2.3.4" }), X)).toBe("1.2.3.4");
	expect(clientAddress("::ffff:203.0.113.9", headers({}), X)).toBe("203.0.113.9");
	for (const form of ["::ffff:cb00:7109", "::FFFF:CB00:7109", "0:0:0:0:0:ffff:203.0.113.9", "[::ffff:cb00:7109]:80"])
		expect(clientAddress("10.0.0.1", headers({ "x-forwarded-for": form }), X)).toBe("203.0.113.9");
});

test("refuses entries that are no address", () => {
	expect(() => addressList(["example.org"])).toThrow("not an address or CIDR range: example.org");
	expect(() => addressList(["10.0.0.0/8/9"])).toThrow(TypeError);
	expect(() => addressList(["10.0.0.0/99"])).toThrow();
});
