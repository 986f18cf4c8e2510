import { afterAll, beforeAll, expect, test } from "bun:test";
import { type KeysGateway, type Refusal, startKeysGateway, verdict } from "../../../test/support/keys-gateway.ts";

let keys: KeysGateway;

beforeAll(async () => {
	keys = await startKeysGateway();
});
afterAll(() => keys.stop());

const ADMIN_ROUTES = [
	["GET", "/api_keys", undefined],
	["POST", "/api_keys", { apiKeyType: "ADMIN", description: "" }],
	["PATCH", "/api_keys", { id: "x" }],
	["DELETE", "/api_keys?id=x", undefined],
	["DELETE", "/api_keys", undefined],
	["GET", "/api_keys/x", undefined],
] as const;

test.each(ADMIN_ROUTES)("an INFERENCE key may not %s %s, whatever it sends", async (method, path, body) => {
	const { apiKey, id } = await keys.create();
	for (const sent of [body, body === undefined ? undefined : "not json"]) {
		const answer = await keys.as(apiKey, method, path, sent);
		expect(answer.status).toBe(403);
		const { code, error } = (await answer.json()) as Refusal;
		expect([code, error]).toEqual(["UNAUTHORIZED", expect.stringContaining("ADMIN")]);
	}
	expect(await verdict(keys.as(apiKey, "DELETE", `/api_keys?id=${id}`))).toBe("403 UNAUTHORIZED");
});

test("an INFERENCE key may read its own limits", async () => {
	const { apiKey } = await keys.create();
	for (const path of ["/api_keys/rate_limits", "/api_keys/rate_limits/log"])
		expect(await verdict(keys.as(apiKey, "GET", path))).toBe("200");
});

test("a key is held to the endpoints, models and addresses that it is restricted to, and told which rule it is", async () => {
	const told = async (restrictions: object) => {
		const { apiKey } = await keys.create({ apiKeyType: "ADMIN", restrictions });
		const answer = await keys.as(apiKey, "GET", "/api_keys");
		const chat = await keys.spend(apiKey, 1);
		return [answer.status, answer.status === 403 ? ((await answer.json()) as Refusal).error : "", chat];
	};
	expect(await told({ endpoints: ["chat"] })).toEqual([403, expect.stringContaining("endpoints chat"), "200"]);
	expect(await told({ endpoints: ["api-keys"] })).toEqual([200, "", "403 UNAUTHORIZED"]);
	expect(await told({ addresses: ["192.0.2.0/24"] })).toEqual([403, expect.stringContaining("addresses"), "403 UNAUTHORIZED"]);
	expect(await told({ addresses: ["192.0.2.1", "127.0.0.0/8", "::1"] })).toEqual([200, "", "200"]);
	expect(await told({ models: ["free-model"] })).toEqual([200, "", "403 UNAUTHORIZED"]);
});

test("a disabled account may do nothing", async () => {
	const { secret, accountId } = await keys.gate.newKey({ key: { type: "ADMIN" } });
	await keys.disable(accountId);
	for (const [method, path, body] of ADMIN_ROUTES)
		expect(await verdict(keys.as(secret, method, path, body))).toBe("403 API_ACCESS_DISABLED");
});
