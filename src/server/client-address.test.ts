import { expect, test } from "bun:test";
import { addressList, clientAddress } from "./client-address.ts";

const proxies = addressList(["10.0.0.0/8", "fd00::/8", "192.0.2.7"]);
const headers = (entries: Record<string, string>) => new Headers(entries);

test("is the socket's address where no proxy is trusted, whatever the headers say", () => {
	expect(clientAddress("198.51.100.1", headers({ "x-forwarded-for": "1.2.3.4" }), addressList([]))).toBe("198.51.100.1");
	expect(clientAddress("198.51.100.1", headers({ forwarded: "for=1.2.3.4" }), proxies)).toBe("198.51.100.1");
});

test("is the rightmost address that is no trusted proxy", () => {
	expect(clientAddress("10.0.0.1", headers({ "x-forwarded-for": "1.2.3.4, 5.6.7.8, 10.9.9.9" }), proxies)).toBe("5.6.7.8");
	expect(clientAddress("192.0.2.7", headers({ forwarded: 'for=1.2.3.4, for="[2001:db8::1]:4711";proto=https' }), proxies)).toBe(
		"2001:db8::1",
	);
	expect(clientAddress("10.0.0.1", headers({ "x-forwarded-for": "10.1.1.1, 10.2.2.2" }), proxies)).toBe("10.1.1.1");
});

test("stays with the socket's address where the header is broken or missing", () => {
	expect(clientAddress("10.0.0.1", headers({ "x-forwarded-for": "unknown" }), proxies)).toBe("10.0.0.1");
	expect(clientAddress("10.0.0.1", headers({}), proxies)).toBe("10.0.0.1");
});

test("reads IPv4 peers of a dual-stack socket, and ports behind addresses", () => {
	expect(clientAddress("::ffff:10.0.0.1", headers({ "x-forwarded-for": "1.2.3.4:5678" }), proxies)).toBe("1.2.3.4");
	expect(clientAddress("::ffff:203.0.113.9", headers({}), proxies)).toBe("203.0.113.9");
});

test("refuses entries that are no address", () => {
	expect(() => addressList(["example.org"])).toThrow("not an address or CIDR range: example.org");
	expect(() => addressList(["10.0.0.0/8/9"])).toThrow(TypeError);
	expect(() => addressList(["10.0.0.0/99"])).toThrow();
});
