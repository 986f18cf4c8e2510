import { afterAll, beforeAll, expect, test } from "bun:test";
import { startWeb3Gateway, type Web3Gateway } from "../../../../test/support/web3-gateway.ts";

let web3: Web3Gateway;

beforeAll(async () => {
	web3 = await startWeb3Gateway();
});
afterAll(() => web3.stop());

test.each(["PUT", "PATCH", "DELETE"])("%s is told what the path takes", async (method) => {
	const answer = await web3.gate.call(method, "/api_keys/generate_web3_key");
	expect(answer.status).toBe(405);
	expect(answer.headers.get("allow")?.split(", ")).toEqual(expect.arrayContaining(["GET", "POST"]));
	await answer.body?.cancel();
});
