import { expect, test } from "bun:test";
import { hostAddresses, isStoreAddress, withoutPassword } from "./store-address.ts";

test("a list of hosts is an address for each, in order, with user, database and parameters", () => {
	const list = "postgres://u:p%40w@one:5432,[::1]:6432,three/books?target_session_attrs=read-write&sslmode=require";
	expect(hostAddresses(list)).toEqual([
		"postgres://u:p%40w@one:5432/books?sslmode=require",
		"postgres://u:p%40w@[::1]:6432/books?sslmode=require",
		"postgres://u:p%40w@three/books?sslmode=require",
	]);
	expect(withoutPassword(list)).toBe("postgres://one:5432,[::1]:6432,three/books");
});

test("an address of one host stays as it is, without what only a client reads", () => {
	expect(hostAddresses("postgresql://u@host/books?sslmode=require")).toEqual(["postgresql://u@host/books?sslmode=require"]);
	expect(hostAddresses("postgres://host:1/books?target_session_attrs=primary")).toEqual(["postgres://host:1/books"]);
});

test.each([
	["postgres://host/books", true],
	["postgres://one,two/books", true],
	["postgres://one:5432,two:5433/books?target_session_attrs=read-write", true],
	["postgres://one,two/books?target_session_attrs=primary", true],
	["postgres://one,two/books?target_session_attrs=any", false],
	["postgres://one/books?target_session_attrs=standby", false],
	["postgres://one,,two/books", false],
	["postgres://one:5432,two:x/books", false],
])("%s: a store can be there: %p", (address, usable) => {
	expect(isStoreAddress(address)).toBe(usable);
});
