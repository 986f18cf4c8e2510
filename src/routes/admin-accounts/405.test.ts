import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminGateway, startAdminGateway } from "../../../test/support/admin-gateway.ts";
import { verdict } from "../../../test/support/keys-gateway.ts";

let admin: AdminGateway;

beforeAll(async () => {
	admin = await startAdminGateway();
});
afterAll(() => admin.stop());

test.each([
	["PUT", "", "GET, POST, HEAD, OPTIONS"],
	["DELETE", "/ID", "GET, PATCH, HEAD, OPTIONS"],
	["PATCH", "/ID/credits", "POST, GET, HEAD, OPTIONS"],
	["GET", "/ID/keys/x", "PATCH, DELETE, OPTIONS"],
])("%s %s answers 405 with what the path takes", async (method, path, allow) => {
	const answer = await admin.ask(method, path.replace("ID", admin.gate.accountId));
	expect([answer.headers.get("allow"), await verdict(answer)]).toEqual([allow, "405 METHOD_NOT_ALLOWED"]);
});
