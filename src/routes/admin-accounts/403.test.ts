import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminGateway, startAdminGateway } from "../../../test/support/admin-gateway.ts";
import { type Refusal, taken, verdict } from "../../../test/support/keys-gateway.ts";
import { ADMIN_ROUTES } from "./testing/routes.ts";

let admin: AdminGateway;
let customer: string;

beforeAll(async () => {
	admin = await startAdminGateway();
	customer = (await admin.account({ creditUsd: "5" })).id;
});
afterAll(() => admin.stop());

test.each(ADMIN_ROUTES)("%s %s is for ADMIN keys of the operator's account", async (method, path, body) => {
	const own = await admin.keyOf(customer, { apiKeyType: "ADMIN" });
	const inference = await admin.create();
	for (const [secret, text] of [
		[own.apiKey, "operator"],
		[inference.apiKey, "INFERENCE"],
	] as const) {
		for (const sent of [body, body === undefined ? undefined : "not json"]) {
			const answer = await admin.as(secret, method, `/admin/accounts${path.replace("ID", customer)}`, sent);
			const { code, error } = (await answer.json()) as Refusal;
			expect([answer.status, code, error]).toEqual([403, "UNAUTHORIZED", expect.stringContaining(text)]);
		}
	}
	expect((await admin.showAccount(customer)).balanceUsd).toBe("5.0000");
});

test("a key is held to the endpoints that it is restricted to", async () => {
	const made = await admin.create({ apiKeyType: "ADMIN", restrictions: { endpoints: ["admin-credits"] } });
	expect(await verdict(admin.as(made.apiKey, "GET", `/admin/accounts/${customer}/credits`))).toBe("200");
	expect(await verdict(admin.as(made.apiKey, "GET", `/admin/accounts/${customer}/keys`))).toBe("403 UNAUTHORIZED");
	expect(await verdict(admin.as(made.apiKey, "POST", "/admin/accounts", { name: "a" }))).toBe("403 UNAUTHORIZED");
});

test("the answer is the same for an account that is there and for one that is not", async () => {
	const { apiKey } = await admin.keyOf(customer, { apiKeyType: "ADMIN" });
	const said = async (id: string) => (await admin.as(apiKey, "GET", `/admin/accounts/${id}`)).text();
	expect(await said(customer)).toBe(await said("acc_none"));
	expect(await taken<object>(await admin.ask("GET", `/${customer}`))).toBeDefined();
});
