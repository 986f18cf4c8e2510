import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminGateway, startAdminGateway } from "../../../test/support/admin-gateway.ts";
import { verdict } from "../../../test/support/keys-gateway.ts";
import { ADMIN_ROUTES } from "./testing/routes.ts";

let admin: AdminGateway;

beforeAll(async () => {
	admin = await startAdminGateway();
});
afterAll(() => admin.stop());

test.each(ADMIN_ROUTES.filter(([, , body]) => body !== undefined))("%s %s takes at most 1 MiB", async (method, path) => {
	const large = JSON.stringify({ name: "x".repeat(1_048_577) });
	expect(await verdict(admin.ask(method, path.replace("ID", admin.gate.accountId), large, "k"))).toBe("413 PAYLOAD_TOO_LARGE");
});
