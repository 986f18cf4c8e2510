import { expect, test } from "bun:test";
import { PublicFetchFault, type PublicFetchFaultKind } from "./port.ts";
import { publicTarget } from "./public-url.ts";

function faultOf(url: string, trusted: readonly string[] = []): PublicFetchFaultKind | null {
	try {
		publicTarget(url, new Set(trusted));
		return null;
	} catch (fault) {
		if (fault instanceof PublicFetchFault) return fault.kind;
		throw fault;
	}
}

test.each([
	"http://example.org",
	"https://example.org:443/a?b#c",
	"http://example.org:8080/",
	"https://93.184.216.34/",
	"https://[2606:4700::1111]/",
	"https://bücher.example/",
])("%s may be read", (url) => expect(faultOf(url)).toBeNull());

test.each([
	["dotted", "http://127.0.0.1/"],
	["with a trailing dot", "http://127.0.0.1./"],
	["decimal", "http://2130706433/"],
	["octal", "http://0177.0.0.01/"],
	["hexadecimal", "http://0x7f.0x0.0x0.0x1/"],
	["one hexadecimal number", "http://0x7f000001/"],
	["short", "http://127.1/"],
	["zero", "http://0/"],
	["in full-width digits", "http://１２７.０.０.１/"],
	["escaped", "http://%31%32%37.0.0.1/"],
	["IPv6", "http://[::1]/"],
	["mapped", "http://[::ffff:127.0.0.1]/"],
	["mapped in hexadecimal", "http://[::ffff:7f00:1]/"],
	["the metadata of clouds", "http://169.254.169.254/latest/meta-data/"],
	["private", "http://10.1.2.3/"],
	["a name of this machine", "http://localhost/"],
	["the same with a dot", "http://localhost./"],
	["below it", "http://a.localhost/"],
	["of the local network", "http://printer.local/"],
	["without a dot", "http://intranet/"],
	["inside a cloud", "http://metadata.google.internal/"],
])("an address %s is private: %s", (_, url) => expect(faultOf(url)).toBe("private"));

test.each([
	["no URL", "example.org"],
	["relative", "/path"],
	["another scheme", "ftp://example.org/"],
	["a file", "file:///etc/passwd"],
	["data", "data:text/html,hello"],
	["without a host", "http://"],
	["with a user name", "http://user@example.org/"],
	["with a password", "http://user:secret@example.org/"],
	["that hides its host", "http://example.org@10.0.0.1/"],
	["of a mail server", "http://example.org:25/"],
	["of a shell", "http://example.org:22/"],
	["of a chat server", "http://example.org:6667/"],
	["that is very long", `http://example.org/${"a".repeat(9_000)}`],
])("%s is refused: %s", (_, url) => expect(faultOf(url)).toBe("url"));

test("the operator's hosts may be private, each exactly as named", () => {
	expect(faultOf("http://127.0.0.1:22/", ["127.0.0.1"])).toBeNull();
	expect(faultOf("http://intranet:9000/", ["intranet:9000"])).toBeNull();
	expect(faultOf("http://intranet:9001/", ["intranet:9000"])).toBe("private");
	expect(faultOf("http://[::1]/", ["::1"])).toBeNull();
	expect(faultOf("http://127.0.0.2/", ["127.0.0.1"])).toBe("private");
});
