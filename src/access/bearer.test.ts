import { expect, test } from "bun:test";
import { bareKey, bearerKey, generateSecretKey, keyHash } from "./index.ts";

test("reads the key behind the scheme word in any case", () => {
	expect(bearerKey("Bearer abc")).toBe("abc");
	expect(bearerKey("bEARER abc")).toBe("abc");
});

test("no header and an empty token are no credential", () => {
	for (const header of [null, "", "Bearer", "Bearer "]) expect(bearerKey(header)).toBeNull();
});

test("another scheme, two spaces, two values or odd characters are malformed", () => {
	for (const header of [
		"Basic abc",
		"Bearer  abc",
		"Bearer a b",
		"Bearer a, Bearer b",
		"Bearer ä",
		"Bearerabc",
		`Bearer ${"a".repeat(513)}`,
	])
		expect(bearerKey(header)).toBeUndefined();
});

test("reads a key that stands alone in its header", () => {
	expect(bareKey("abc")).toBe("abc");
	for (const header of [null, ""]) expect(bareKey(header)).toBeNull();
	for (const header of ["a b", "a, b", "ä", "a".repeat(513)]) expect(bareKey(header)).toBeUndefined();
});

test("new keys carry their type and 43 random base62 characters, and are known by their sha256", () => {
	expect(generateSecretKey("ADMIN")).toMatch(/^sk_adm_[0-9A-Za-z]{43}$/);
	expect(generateSecretKey("INFERENCE")).toMatch(/^sk_inf_[0-9A-Za-z]{43}$/);
	expect(generateSecretKey("ADMIN")).not.toBe(generateSecretKey("ADMIN"));
	expect(keyHash("abc")).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
});
