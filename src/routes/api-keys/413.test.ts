import { afterAll, beforeAll, expect, test } from "bun:test";
import { type KeysGateway, startKeysGateway, verdict } from "../../../test/support/keys-gateway.ts";

let keys: KeysGateway;

beforeAll(async () => {
	keys = await startKeysGateway();
});
afterAll(() => keys.stop());

test("a body of 1 MiB is read, one byte more is not", async () => {
	const frame = '{"apiKeyType":"INFERENCE","description":"x"}';
	for (const [method, fits] of [
		["POST", "200"],
		["PATCH", "400 INVALID_REQUEST"],
	] as const) {
		expect(await verdict(keys.gate.call(method, "/api_keys", frame.padEnd(1_048_576, " ")))).toBe(fits);
		expect(await verdict(keys.gate.call(method, "/api_keys", frame.padEnd(1_048_577, " ")))).toBe("413 PAYLOAD_TOO_LARGE");
	}
});
