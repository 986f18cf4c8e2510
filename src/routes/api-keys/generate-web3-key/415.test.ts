import { afterAll, beforeAll, expect, test } from "bun:test";
import { verdict } from "../../../../test/support/keys-gateway.ts";
import { startWeb3Gateway, type Web3Gateway } from "../../../../test/support/web3-gateway.ts";

let web3: Web3Gateway;

beforeAll(async () => {
	web3 = await startWeb3Gateway();
});
afterAll(() => web3.stop());

test("a body that is not JSON by its type", async () => {
	const answer = web3.gate.call("POST", "/api_keys/generate_web3_key", "a=b", { "content-type": "text/plain" });
	expect(await verdict(answer)).toBe("415 INVALID_CONTENT_TYPE");
});
