import { afterAll, beforeAll, expect, test } from "bun:test";
import { verdict } from "../../../../test/support/keys-gateway.ts";
import { startWeb3Gateway, type Web3Gateway } from "../../../../test/support/web3-gateway.ts";

let web3: Web3Gateway;

beforeAll(async () => {
	web3 = await startWeb3Gateway();
});
afterAll(() => web3.stop());

test("the wallet of a disabled account gets no key, and its token stays good", async () => {
	const { wallet, accountId } = await web3.staker();
	const token = await web3.token();
	await web3.gate.openedStore.store.admin("changeAccount", { accountId, changes: { disabled: true } });
	expect(await verdict(web3.post(wallet, { token }))).toBe("403 API_ACCESS_DISABLED");
	await web3.gate.openedStore.store.admin("changeAccount", { accountId, changes: { disabled: false } });
	expect(await verdict(web3.post(wallet, { token }))).toBe("200");
});
