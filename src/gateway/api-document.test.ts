import { expect, test } from "bun:test";
import type { Endpoint } from "../server/index.ts";
import { ApiDocument } from "./api-document.ts";

test("the document and its page are made once, whoever asks for them, and anew for another address", async () => {
	let url = "http://a.example";
	let made = 0;
	const endpoints: Endpoint[] = [];
	const ruleNames = { endpoints: new Set<string>(), networks: new Set(["base-mainnet"]) };
	const document = new ApiDocument({
		endpoints: () => {
			made++;
			return endpoints;
		},
		ruleNames,
		url: () => url,
	});
	const route = document.route();
	endpoints.push(route);
	if (route.kind !== "plain") throw new Error("a plain route was expected");
	const answer = async () => (await route.run({} as never, {} as never)).body as Uint8Array;
	const first = await answer();
	expect(new TextDecoder().decode(first)).toContain("http://a.example/api/v1");
	expect(await answer()).toBe(first);
	expect(document.page).toBe(document.page);
	expect(made).toBe(1);
	url = "http://b.example";
	expect(new TextDecoder().decode(await answer())).toContain("http://b.example/api/v1");
	expect(made).toBe(2);
});
