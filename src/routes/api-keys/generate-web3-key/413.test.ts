import { afterAll, beforeAll, expect, test } from "bun:test";
import { verdict } from "../../../../test/support/keys-gateway.ts";
import { createWallet, startWeb3Gateway, type Web3Gateway } from "../../../../test/support/web3-gateway.ts";

let web3: Web3Gateway;

beforeAll(async () => {
	web3 = await startWeb3Gateway();
});
afterAll(() => web3.stop());

test("a body over one MiB", async () => {
	expect(await verdict(web3.post(createWallet(), { description: "x".repeat(1_048_577) }))).toBe("413 PAYLOAD_TOO_LARGE");
});
