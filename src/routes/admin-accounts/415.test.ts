import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminGateway, startAdminGateway } from "../../../test/support/admin-gateway.ts";
import { verdict } from "../../../test/support/keys-gateway.ts";
import { ADMIN_ROUTES } from "./testing/routes.ts";

let admin: AdminGateway;

beforeAll(async () => {
	admin = await startAdminGateway();
});
afterAll(() => admin.stop());

test.each(ADMIN_ROUTES.filter(([, , body]) => body !== undefined))("%s %s takes JSON only", async (method, path, body) => {
	const where = `/admin/accounts${path.replace("ID", admin.gate.accountId)}`;
	const headers = { "content-type": "text/plain", "idempotency-key": "k" };
	expect(await verdict(admin.gate.call(method, where, JSON.stringify(body), headers))).toBe("415 INVALID_CONTENT_TYPE");
});
