import { afterAll, beforeAll, expect, test } from "bun:test";
import { verdict } from "../../../../test/support/keys-gateway.ts";
import { type StakingChain, startStakingChain, TOKEN } from "../../../../test/support/staking-chain/index.ts";
import { createWallet, startWeb3Gateway, type Web3Gateway } from "../../../../test/support/web3-gateway.ts";

let chain: StakingChain;
let web3: Web3Gateway;

beforeAll(async () => {
	chain = await startStakingChain();
	web3 = await startWeb3Gateway({ chain });
});
afterAll(async () => {
	await web3.stop();
	await chain.stop();
});

test("a stake that cannot be read now says when to try again, and the token stays good", async () => {
	const wallet = createWallet();
	await chain.setStake(wallet.address, TOKEN);
	const token = await web3.token();
	chain.answer = "down";
	const answer = await web3.post(wallet, { token });
	expect(answer.headers.get("retry-after")).toBe("5");
	expect(await verdict(answer)).toBe("503 SERVICE_UNAVAILABLE");
	chain.answer = null;
	expect(await verdict(web3.post(wallet, { token }))).toBe("200");
});
