import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminGateway, startAdminGateway } from "../../../test/support/admin-gateway.ts";
import { verdict } from "../../../test/support/keys-gateway.ts";
import { ADMIN_ROUTES } from "./testing/routes.ts";

let admin: AdminGateway;

beforeAll(async () => {
	admin = await startAdminGateway();
});
afterAll(() => admin.stop());

const UNKNOWN = ["acc_none", "acc_000000000000000000000000", "a%20b", "%F0%9F%98%80", "x".repeat(2_000), "'%3B%20DROP%20TABLE"];

test.each(ADMIN_ROUTES.filter(([, path]) => path.startsWith("/ID")))(
	"%s %s knows no such account",
	async (method, path, body) => {
		for (const id of UNKNOWN) expect(await verdict(admin.ask(method, path.replace("ID", id), body, "k"))).toBe("404 NOT_FOUND");
	},
);

test("a key of another account is as unknown as one that never was", async () => {
	const mine = await admin.account();
	const other = await admin.account();
	const { id } = await admin.keyOf(other.id);
	for (const keyId of [id, "none", "00000000-0000-4000-8000-000000000000"])
		expect(await verdict(admin.ask("DELETE", `/${mine.id}/keys/${keyId}`))).toBe("404 NOT_FOUND");
	expect(await verdict(admin.ask("DELETE", `/${other.id}/keys/${id}`))).toBe("200");
	expect(await verdict(admin.ask("DELETE", `/${other.id}/keys/${id}`))).toBe("404 NOT_FOUND");
});

test("a request of another account, or that was never booked, is not given back", async () => {
	const mine = await admin.account({ creditUsd: "1" });
	const other = await admin.account();
	const { apiKey } = await admin.keyOf(mine.id);
	const requestId = await admin.charge(apiKey, 1);
	expect(await verdict(admin.ask("POST", `/${other.id}/refunds`, { requestId }, "r1"))).toBe("404 NOT_FOUND");
	for (const unknown of ["x".repeat(32), "", "a b", "\u0000", "y".repeat(10_000)])
		expect(await verdict(admin.ask("POST", `/${mine.id}/refunds`, { requestId: unknown }, "r2"))).toBe("404 NOT_FOUND");
	expect(await verdict(admin.ask("POST", `/${mine.id}/refunds`, { requestId }, "r1"))).toBe("200");
});

test("there is nothing below these paths", async () => {
	for (const path of ["/", `/${admin.gate.accountId}/`, `/${admin.gate.accountId}/nothing`])
		expect(await verdict(admin.ask("GET", path))).toBe("404 NOT_FOUND");
});
