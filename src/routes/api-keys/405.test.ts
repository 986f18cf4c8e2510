import { afterAll, beforeAll, expect, test } from "bun:test";
import { type KeysGateway, startKeysGateway, verdict } from "../../../test/support/keys-gateway.ts";

let keys: KeysGateway;

beforeAll(async () => {
	keys = await startKeysGateway();
});
afterAll(() => keys.stop());

test.each([
	["PUT", "/api_keys", "GET, POST, PATCH, DELETE, HEAD, OPTIONS"],
	["DELETE", "/api_keys/5b0e6c1e-3f64-4f0e-9d0e-0a1b2c3d4e5f", "GET, HEAD, OPTIONS"],
	["POST", "/api_keys/rate_limits", "GET, HEAD, OPTIONS"],
	["PATCH", "/api_keys/rate_limits/log", "GET, HEAD, OPTIONS"],
])("%s %s is told what the path takes", async (method, path, allow) => {
	const answer = await keys.gate.call(method, path);
	expect(answer.headers.get("allow")).toBe(allow);
	expect(await verdict(answer)).toBe("405 METHOD_NOT_ALLOWED");
});
