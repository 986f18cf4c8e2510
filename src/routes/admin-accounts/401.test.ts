import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminGateway, startAdminGateway } from "../../../test/support/admin-gateway.ts";
import { verdict } from "../../../test/support/keys-gateway.ts";
import { ADMIN_ROUTES } from "./testing/routes.ts";

let admin: AdminGateway;

beforeAll(async () => {
	admin = await startAdminGateway();
});
afterAll(() => admin.stop());

test.each(ADMIN_ROUTES)("%s %s takes nobody without a good key, whatever is sent", async (method, path, body) => {
	const where = `/admin/accounts${path.replace("ID", admin.gate.accountId)}`;
	for (const authorization of ["", "Basic abc", "Bearer", "Bearer sk_adm_unknown", `bearer  ${admin.gate.key}`]) {
		for (const sent of [body, body === undefined ? undefined : "not json"]) {
			const answer = await admin.gate.call(method, where, sent, { authorization, "idempotency-key": "k" });
			expect(answer.headers.get("www-authenticate")).toBe("Bearer");
			expect(await verdict(answer)).toBe("401 AUTHENTICATION_FAILED");
		}
	}
});
