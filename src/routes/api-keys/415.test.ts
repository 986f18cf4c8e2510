import { afterAll, beforeAll, expect, test } from "bun:test";
import { type KeysGateway, startKeysGateway, verdict } from "../../../test/support/keys-gateway.ts";

let keys: KeysGateway;

beforeAll(async () => {
	keys = await startKeysGateway();
});
afterAll(() => keys.stop());

test("a body that is not declared to be JSON is not read", async () => {
	const body = { apiKeyType: "INFERENCE", description: "" };
	for (const type of ["", "text/plain", "application/x-www-form-urlencoded", "application/jsonp"])
		for (const method of ["POST", "PATCH"])
			expect(await verdict(keys.gate.call(method, "/api_keys", body, { "content-type": type }))).toBe("415 INVALID_CONTENT_TYPE");
	for (const type of ["application/json; charset=utf-8", "APPLICATION/JSON"])
		expect(await verdict(keys.gate.call("POST", "/api_keys", body, { "content-type": type }))).toBe("200");
});
