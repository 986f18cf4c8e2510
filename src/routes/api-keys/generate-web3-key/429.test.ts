import { afterAll, beforeAll, expect, test } from "bun:test";
import { verdict } from "../../../../test/support/keys-gateway.ts";
import { startWeb3Gateway, type Web3Gateway } from "../../../../test/support/web3-gateway.ts";
import { ManualClock } from "../../../telemetry/clock.ts";

const clock = new ManualClock(Date.now());
let web3: Web3Gateway;

beforeAll(async () => {
	web3 = await startWeb3Gateway({ clock, limits: { web3KeysPerMinute: 20 } });
});
afterAll(() => web3.stop());

test("twenty requests a minute from one address, tokens and keys together", async () => {
	const { wallet } = await web3.staker();
	const outcomes: string[] = [];
	for (let count = 0; count < 10; count++) outcomes.push(await verdict(web3.post(wallet)));
	expect(outcomes).toEqual(Array(10).fill("200"));
	const refused = await web3.gate.call("GET", "/api_keys/generate_web3_key");
	expect(refused.status).toBe(429);
	expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
	await refused.body?.cancel();
	// The account's own routes are not touched, and a minute later all is as before.
	expect((await web3.gate.call("GET", "/api_keys")).status).toBe(200);
	clock.advance(60_000);
	expect(await verdict(web3.post(wallet))).toBe("200");
});
