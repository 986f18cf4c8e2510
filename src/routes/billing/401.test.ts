import { afterAll, beforeAll, expect, test } from "bun:test";
import { type BillingGateway, startBillingGateway } from "../../../test/support/billing-gateway.ts";

const PATHS = ["/balance", "/usage", "/usage-history", "/usage-analytics"];
let billing: BillingGateway;

beforeAll(async () => {
	billing = await startBillingGateway();
});
afterAll(() => billing.stop());

test.each(PATHS)("GET /billing%s without a key, with one that nobody has, and with one that has expired", async (path) => {
	const expired = await billing.gate.newKey({ key: { type: "ADMIN", expiresAtMs: Date.now() - 1 } });
	for (const key of ["", "sk_adm_none", expired.secret]) {
		const answer = await billing.get(path, { key });
		expect(answer.status).toBe(401);
		expect(answer.headers.get("www-authenticate")).toBe("Bearer");
		expect(await answer.json()).toMatchObject({ error: expect.any(String), code: "AUTHENTICATION_FAILED" });
	}
});

test.each(PATHS)("a wrong key is told before wrong parameters: GET /billing%s", async (path) => {
	expect((await billing.get(`${path}?limit=0&pageSize=0&lookback=0`, { key: "sk_adm_none" })).status).toBe(401);
});
