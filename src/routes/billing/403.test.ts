import { afterAll, beforeAll, expect, test } from "bun:test";
import { type BillingGateway, startBillingGateway } from "../../../test/support/billing-gateway.ts";

let billing: BillingGateway;

beforeAll(async () => {
	billing = await startBillingGateway();
});
afterAll(() => billing.stop());

const codeOf = async (answer: Response) => [answer.status, ((await answer.json()) as { code?: string }).code];

test.each(["/usage", "/usage-history", "/movements"])("GET /billing%s with an INFERENCE key", async (path) => {
	const { secret } = await billing.gate.newKey({ creditUsd: "1" });
	expect(await codeOf(await billing.get(path, { key: secret }))).toEqual([403, "UNAUTHORIZED"]);
});

test("a key that is restricted to other endpoints", async () => {
	const restrictions = { models: null, endpoints: ["billing-usage"], networks: null, addresses: null };
	const { secret } = await billing.gate.newKey({ key: { type: "ADMIN", restrictions } });
	expect((await billing.get("/usage", { key: secret })).status).toBe(200);
	for (const path of ["/balance", "/usage-history", "/usage-analytics"])
		expect(await codeOf(await billing.get(path, { key: secret }))).toEqual([403, "UNAUTHORIZED"]);
});

test("a key of an account that was disabled", async () => {
	const { secret, accountId } = await billing.gate.newKey({ key: { type: "ADMIN" } });
	await billing.disable(accountId);
	expect(await codeOf(await billing.get("/balance", { key: secret }))).toEqual([403, "API_ACCESS_DISABLED"]);
});
