import { afterAll, beforeAll, expect, test } from "bun:test";
import { type BillingGateway, startBillingGateway } from "../../../test/support/billing-gateway.ts";

let billing: BillingGateway;

beforeAll(async () => {
	billing = await startBillingGateway({ limits: { listRequestsPerMinute: 3 } });
});
afterAll(() => billing.stop());

test("more requests in a minute than the lists of an account may have", async () => {
	for (const path of ["/balance", "/usage", "/usage-history"]) expect((await billing.get(path)).status).toBe(200);
	const answer = await billing.get("/usage-analytics");
	expect(answer.status).toBe(429);
	expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
	expect(await answer.json()).toMatchObject({ error: expect.any(String), code: "RATE_LIMIT_EXCEEDED" });
});
