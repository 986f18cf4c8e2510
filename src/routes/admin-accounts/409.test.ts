import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminGateway, startAdminGateway } from "../../../test/support/admin-gateway.ts";
import { taken, verdict } from "../../../test/support/keys-gateway.ts";

let admin: AdminGateway;

beforeAll(async () => {
	admin = await startAdminGateway();
});
afterAll(() => admin.stop());

test("money that requests hold is not taken back: after a while the answer says so, and nothing was changed", async () => {
	const { id } = await admin.account({ creditUsd: "1" });
	await taken(await admin.ask("PATCH", `/${id}`, { bundledUsd: "1" }));
	const { apiKey } = await admin.keyOf(id);
	const free = await admin.holdOf(apiKey, 180);
	const [debit, change] = await Promise.all([
		admin.ask("POST", `/${id}/debits`, { amountUsd: "0.9" }, "held"),
		admin.ask("PATCH", `/${id}`, { bundledUsd: "0.5", name: "other" }),
	]);
	for (const answer of [debit, change]) {
		expect(answer.headers.get("retry-after")).toBe("5");
		expect(await verdict(answer)).toBe("409 BALANCE_IN_USE");
	}
	expect(await admin.showAccount(id)).toMatchObject({ balanceUsd: "1.0000", bundledUsd: "1.0000", name: "a customer" });
	free();
	expect(await verdict(admin.ask("POST", `/${id}/debits`, { amountUsd: "0.9" }, "held"))).toBe("200");
	expect((await admin.showAccount(id)).balanceUsd).toBe("0.1000");
});
