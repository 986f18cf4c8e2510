import { afterAll, beforeAll, expect, test } from "bun:test";
import { type KeysGateway, startKeysGateway, verdict } from "../../../test/support/keys-gateway.ts";

let keys: KeysGateway;

beforeAll(async () => {
	keys = await startKeysGateway();
});
afterAll(() => keys.stop());

const ROUTES = [
	["GET", "/api_keys"],
	["POST", "/api_keys"],
	["PATCH", "/api_keys"],
	["DELETE", "/api_keys?id=x"],
	["GET", "/api_keys/5b0e6c1e-3f64-4f0e-9d0e-0a1b2c3d4e5f"],
	["GET", "/api_keys/rate_limits"],
	["GET", "/api_keys/rate_limits/log"],
] as const;

test.each(ROUTES)("%s %s needs a good key before anything else", async (method, path) => {
	const bad: readonly Record<string, string>[] = [
		{ authorization: "" },
		{ authorization: "Bearer " },
		{ authorization: "Bearer sk_adm_unknown" },
		{ authorization: `Basic ${btoa("a:b")}` },
		{ authorization: "", "x-sign-in-with-x": "e30=" },
	];
	for (const headers of bad) {
		const answer = await keys.gate.call(method, path, undefined, headers);
		expect(answer.headers.get("www-authenticate")).toBe("Bearer");
		expect(await verdict(answer)).toBe("401 AUTHENTICATION_FAILED");
	}
});

test("a key that was ended or has expired is no key", async () => {
	const ended = await keys.create({ apiKeyType: "ADMIN" });
	expect((await keys.as(ended.apiKey, "GET", "/api_keys")).status).toBe(200);
	await keys.gate.call("DELETE", `/api_keys?id=${ended.id}`);
	const expired = await keys.gate.newKey({ account: keys.gate.accountId, key: { type: "ADMIN", expiresAtMs: Date.now() - 1 } });
	for (const secret of [ended.apiKey, expired.secret])
		for (const [method, path] of ROUTES) expect(await verdict(keys.as(secret, method, path))).toBe("401 AUTHENTICATION_FAILED");
});
