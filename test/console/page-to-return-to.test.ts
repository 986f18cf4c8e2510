import { expect, test } from "bun:test";
import { pageToReturnTo } from "../../console/src/parts/page-to-return-to.ts";

const ORIGIN = "https://turnpike.example";

test("a page of the console is returned to, with its search and its anchor", () => {
	for (const page of ["/console/", "/console/accounts", "/console/accounts/acc_1?page=2&q=a%2Fb#keys"])
		expect(pageToReturnTo(page, ORIGIN)).toBe(page);
	expect(pageToReturnTo(`${ORIGIN}/console/keys`, ORIGIN)).toBe("/console/keys");
});

test("every other address leads to the console's first page", () => {
	const others = [
		undefined,
		"",
		"/",
		"/console",
		"/api/v1/models",
		"https://evil.example/console/",
		"//evil.example/console/",
		"\\\\evil.example/console/",
		"/\\evil.example/console/",
		"/console/..//evil.example/",
		"/console/../../evil.example/",
		"/console/%2e%2e//evil.example/",
		"/console/%2E%2E/%2e%2e//evil.example/",
		"/console/..\\\\evil.example/",
		"/console//evil.example/",
		"/console/\\evil.example/",
		"/console/\t/evil.example",
		"/con\nsole//evil.example/",
		"javascript:alert(1)",
		"data:text/html,x",
		"https:evil.example/console/",
		"https://turnpike.example@evil.example/console/",
		"https://turnpike.example:444/console/",
		"http://[",
	];
	for (const back of others) expect([back, pageToReturnTo(back, ORIGIN)]).toEqual([back, "/console/"]);
});
