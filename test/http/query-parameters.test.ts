/** A query parameter that a route does not have is named and refused: a filter that is not applied would answer for more. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { signIn } from "../support/console-gateway.ts";
import { rpcUpstream } from "../support/rpc-gateway.ts";
import { type ChatGateway, HELLO, startChatGateway } from "./chat-gateway.ts";

const NETWORK = "ethereum-mainnet";
let fixture: ChatGateway;

beforeAll(async () => {
	fixture = await startChatGateway({
		config: { rpc: { networks: { [NETWORK]: { enabled: true, upstreams: [rpcUpstream("http://127.0.0.1:9")] } } } },
	});
});
afterAll(() => fixture.stop());

interface ApiDocument {
	readonly paths: Readonly<
		Record<string, Readonly<Record<string, { readonly parameters?: readonly { readonly name: string }[] }>>>
	>;
}

/** Every operation of the API document with its path filled in; wallets have tests of their own. */
async function operations(): Promise<readonly (readonly [method: string, path: string])[]> {
	const document = (await (await fixture.gate.call("GET", "/openapi.json")).json()) as ApiDocument;
	return Object.entries(document.paths)
		.filter(([path]) => !path.includes("{walletAddress}"))
		.flatMap(([path, methods]) =>
			Object.keys(methods).map((method) => {
				const filled = path.replace("{network}", NETWORK).replaceAll(/\{\w+\}/g, "x");
				return [method.toUpperCase(), filled] as const;
			}),
		);
}

test("every route of the API names the parameter that it does not have", async () => {
	const all = await operations();
	expect(all.length).toBeGreaterThan(50);
	for (const [method, path] of all) {
		// The operator's movements of money need it; paid routes refuse it.
		const headers = path.startsWith("/admin/") ? { "idempotency-key": "key-1" } : undefined;
		const answer = await fixture.gate.call(method, `${path}?accountId=acc_1&limits=5`, undefined, headers);
		const text = await answer.text();
		const named = text.includes("accountId: is not a query parameter here") && text.includes('"limits"');
		expect([method, path, answer.status, named ? "named" : text]).toEqual([method, path, 400, "named"]);
	}
});

test("every route of the console's API does so as well", async () => {
	const console = await signIn(fixture.gate.url, fixture.gate.key);
	const lists = ["/session", "/models", "/upstreams", "/networks", "/usage", "/usage.csv", "/margin", "/requests/x", "/settings"];
	lists.push("/accounts", "/keys", "/sends", "/refusals", "/wallets", "/top-ups", "/overview", "/assets");
	for (const path of lists) {
		const answer = await console.ask("GET", `${path}?acountId=x`);
		const named = (await answer.text()).includes("acountId: is not a query parameter here");
		expect([path, answer.status, named]).toEqual([path, 400, true]);
	}
});

test("the refusal says which parameters there are, and takes no name in another case", async () => {
	const { error } = (await (await fixture.gate.call("GET", "/billing/usage?accountId=x")).json()) as { error: string };
	expect(error).toBe(
		"accountId: is not a query parameter here; this route takes currency, startDate, endDate, limit, page, sortOrder",
	);
	for (const query of ["Limit=5", "limit[]=5", "limit%00=5", "=5", "__proto__=5", "constructor=5", "limit=5&limit =5"])
		expect([query, (await fixture.gate.call("GET", `/billing/usage?${query}`)).status]).toEqual([query, 400]);
	for (const query of ["", "?", "?&", "?limit=5", "?limit=5&page=1"])
		expect([query, (await fixture.gate.call("GET", `/billing/usage${query}`)).status]).toEqual([query, 200]);
});

test("a thousand unknown names make a short answer", async () => {
	const query = Array.from({ length: 1_000 }, (_, index) => `n${index}=1`).join("&");
	expect((await (await fixture.gate.call("GET", `/billing/usage?${query}`)).text()).length).toBeLessThan(20_000);
});

test("what clients add to each request is taken: api-version, beta, and x402Version on paid routes", async () => {
	const chat = (path: string) => fixture.gate.call("POST", path, { ...HELLO, max_tokens: 5 });
	for (const path of ["/chat/completions?api-version=2024-06-01", "/messages?beta=true", "/chat/completions?x402Version=1"])
		expect([path, (await chat(path)).status]).toEqual([path, 200]);
	for (const path of ["/chat/completions?beta=true", "/messages?api-version=1", "/models?x402Version=1"])
		expect([path, (await (path.startsWith("/models") ? fixture.gate.call("GET", path) : chat(path))).status]).toEqual([
			path,
			400,
		]);
});

test("a parameter that stands twice is 400 and named, but for lists", async () => {
	for (const path of ["/billing/usage?limit=5&limit=6", "/models?type=text&type=image", "/api_keys?limit=1&limit=1"]) {
		const answer = await fixture.gate.call("GET", path);
		expect([path, answer.status]).toEqual([path, 400]);
		expect(await answer.text()).toContain("is there twice");
	}
	expect((await fixture.gate.call("DELETE", "/api_keys?id=a&id=b")).status).toBe(400);
	expect((await fixture.gate.call("GET", "/characters?tags=a&tags=b")).status).toBe(200);
});
