import { afterAll, beforeAll, expect, test } from "bun:test";
import { type AdminGateway, startAdminGateway } from "../../../test/support/admin-gateway.ts";
import { FREE_MODEL, type Refusal, taken, verdict } from "../../../test/support/keys-gateway.ts";

let admin: AdminGateway;
let id: string;
let serial = 0;

beforeAll(async () => {
	admin = await startAdminGateway();
	id = (await admin.account({ creditUsd: "5" })).id;
});
afterAll(() => admin.stop());

/** Code and text of a refusal, with a key of its own. */
async function refusal(method: string, path: string, body?: unknown, key = `own-${++serial}`): Promise<[string, string]> {
	const answer = await admin.ask(method, path, body, key);
	const { code, error } = (await answer.json()) as Refusal;
	expect(answer.status).toBe(400);
	return [code, error];
}

const NO_AMOUNTS = [
	5,
	-5,
	0.1,
	"-1",
	"+1",
	"1e3",
	"1,5",
	".5",
	"1.",
	"1.0000000001",
	"NaN",
	"9".repeat(30),
	" 1",
	"١",
	"",
	null,
	{},
	[],
	true,
];

test.each(NO_AMOUNTS.map((amountUsd) => ({ amountUsd })))("%j is no amount of money", async ({ amountUsd }) => {
	for (const path of [`/${id}/credits`, `/${id}/debits`]) {
		const [code, error] = await refusal("POST", path, { amountUsd });
		expect([code, error]).toEqual(["INVALID_REQUEST", expect.stringContaining("amountUsd")]);
		if (typeof amountUsd === "number") expect(error).toContain('must be digits with at most 9 places, like "12.50", as text');
	}
	for (const body of [{ bundledUsd: amountUsd }, { stakeDiem: amountUsd }])
		expect((await refusal("PATCH", `/${id}`, body))[0]).toBe("INVALID_REQUEST");
	expect((await refusal("POST", "", { name: "a", creditUsd: amountUsd }))[0]).toBe("INVALID_REQUEST");
	expect((await admin.showAccount(id)).balanceUsd).toBe("5.0000");
});

test.each([
	["0", "more than 0"],
	["0.000000000", "more than 0"],
	["1000000.000000001", "at most 1000000"],
	["9999999", "at most 1000000"],
])("%p is refused with what would be right", async (amountUsd, text) => {
	expect(await refusal("POST", `/${id}/credits`, { amountUsd })).toEqual(["INVALID_REQUEST", expect.stringContaining(text)]);
	expect((await refusal("POST", `/${id}/debits`, { amountUsd }))[0]).toBe("INVALID_REQUEST");
});

test("a balance has a largest size, and nothing is taken that is not there", async () => {
	const rich = (await admin.account()).id;
	for (let count = 0; count < 4; count++) await admin.credit(rich, "1000000", `rich-${count}`);
	expect((await refusal("POST", `/${rich}/credits`, { amountUsd: "0.000000001" }))[1]).toContain("at most 4000000");
	expect((await refusal("POST", `/${id}/debits`, { amountUsd: "5.000000001" }))[1]).toContain("Only 5 can be taken back");
});

test.each(["a b", "ä", "a,b", "a".repeat(256), "a/b", ""])("%p is no Idempotency-Key", async (key) => {
	for (const path of ["credits", "debits", "refunds"]) {
		const answer = await admin.ask("POST", `/${id}/${path}`, "not even json", encodeURI(key) === key ? key : encodeURI(key));
		expect([answer.status, ((await answer.json()) as Refusal).code]).toEqual([400, "IDEMPOTENCY_KEY_INVALID"]);
	}
});

test("money is not moved without an Idempotency-Key", async () => {
	for (const path of ["credits", "debits", "refunds"]) {
		const answer = await admin.ask("POST", `/${id}/${path}`, { amountUsd: "1" });
		const { code, error } = (await answer.json()) as Refusal;
		expect([answer.status, code, error]).toEqual([400, "IDEMPOTENCY_KEY_INVALID", expect.stringContaining("needs")]);
	}
	expect((await admin.showAccount(id)).balanceUsd).toBe("5.0000");
});

test("a key that named something else is refused, and nothing is moved", async () => {
	const other = (await admin.account()).id;
	const { apiKey } = await admin.keyOf(id);
	const requestId = await admin.charge(apiKey, 1);
	await admin.credit(id, "1", "k-credit");
	await taken(await admin.ask("POST", `/${id}/debits`, { amountUsd: "1" }, "k-debit"));
	await taken(await admin.ask("POST", `/${id}/refunds`, { requestId, amountUsd: "0.005" }, "k-refund"));
	const before = await admin.showAccount(id);
	const reused = [
		[`/${id}/credits`, { amountUsd: "2" }, "k-credit"],
		[`/${other}/credits`, { amountUsd: "1" }, "k-credit"],
		[`/${id}/debits`, { amountUsd: "1" }, "k-credit"],
		[`/${id}/credits`, { amountUsd: "1" }, "k-debit"],
		[`/${id}/debits`, { amountUsd: "0.5" }, "k-debit"],
		[`/${id}/refunds`, { requestId, amountUsd: "0.001" }, "k-refund"],
		[`/${id}/refunds`, { requestId }, "k-refund"],
		[`/${id}/credits`, { amountUsd: "1" }, "k-refund"],
		[`/${id}/refunds`, { requestId }, "k-credit"],
	] as const;
	for (const [path, body, key] of reused) {
		const [code] = await refusal("POST", path, body, key);
		expect([path, code]).toEqual([path, "IDEMPOTENCY_KEY_REUSED"]);
	}
	await taken(await admin.ask("POST", "", { name: "n", creditUsd: "1" }, "k-account"));
	for (const body of [{ name: "n" }, { name: "m", creditUsd: "1" }, { name: "n", creditUsd: "2" }])
		expect((await refusal("POST", "", body, "k-account"))[0]).toBe("IDEMPOTENCY_KEY_REUSED");
	expect(await admin.showAccount(id)).toEqual(before);
	expect((await admin.showAccount(other)).balanceUsd).toBe("0.0000");
});

test("no more is given back than was charged", async () => {
	const { apiKey } = await admin.keyOf(id);
	const requestId = await admin.charge(apiKey, 3);
	const back = (amountUsd?: string) => ({ requestId, ...(amountUsd === undefined ? {} : { amountUsd }) });
	expect((await refusal("POST", `/${id}/refunds`, back("0.030000001")))[1]).toContain("Only 0.03 of");
	await taken(await admin.ask("POST", `/${id}/refunds`, back("0.02"), "part"));
	expect((await refusal("POST", `/${id}/refunds`, back("0.02")))[1]).toContain("Only 0.01 of");
	await taken(await admin.ask("POST", `/${id}/refunds`, back(), "rest"));
	expect((await refusal("POST", `/${id}/refunds`, back()))[1]).toContain("Nothing of this request is left");
	const free = await admin.charge(apiKey, 1, FREE_MODEL);
	expect((await refusal("POST", `/${id}/refunds`, { requestId: free }))[0]).toBe("INVALID_REQUEST");
});

test.each([
	["POST", "", {}],
	["POST", "", { name: "" }],
	["POST", "", { name: "   " }],
	["POST", "", { name: "x".repeat(201) }],
	["POST", "", { name: "a\u0000b" }],
	["POST", "", { name: 5 }],
	["POST", "", { name: "a", tier: "gold" }],
	["POST", "", { name: "a", id: "acc_1" }],
	["POST", "", []],
	["POST", "", "{"],
	["PATCH", "/ID", { name: "" }],
	["PATCH", "/ID", { name: null }],
	["PATCH", "/ID", { tier: "gold" }],
	["PATCH", "/ID", { wallet: "0x12" }],
	["PATCH", "/ID", { wallet: "" }],
	["PATCH", "/ID", { disabled: "yes" }],
	["PATCH", "/ID", { operator: true }],
	["PATCH", "/ID", { tier: "staff", wallet: "nonsense" }],
	["POST", "/ID/credits", { amountUsd: "1", currency: "EUR" }],
	["POST", "/ID/credits", {}],
	["POST", "/ID/refunds", {}],
	["POST", "/ID/refunds", { requestId: 5 }],
	["POST", "/ID/keys", {}],
	["POST", "/ID/keys", { apiKeyType: "ROOT" }],
	["POST", "/ID/keys", { apiKeyType: "ADMIN", expiresAt: "2001-01-01" }],
	["POST", "/ID/keys", { apiKeyType: "ADMIN", consumptionLimits: {} }],
	["GET", "?limit=0", undefined],
	["GET", "?limit=501", undefined],
	["GET", "?limit=x", undefined],
	["GET", "?cursor=nonsense", undefined],
	["GET", "/ID/credits?cursor=!!", undefined],
	["GET", "/ID/refunds?limit=1.5", undefined],
] as const)("%s %s %j is refused", async (method, path, body) => {
	expect((await refusal(method, path.replace("ID", id), body))[0]).toBe("INVALID_REQUEST");
	expect((await admin.showAccount(id)).tier).toBe("paid");
});

test("a wallet belongs to one account", async () => {
	const wallet = `0x${"cd".repeat(20)}`;
	const owner = (await admin.account()).id;
	await taken(await admin.ask("PATCH", `/${owner}`, { wallet }));
	expect((await refusal("PATCH", `/${id}`, { wallet }))[1]).toContain(owner);
});

test("the operator cannot lock the own account out", async () => {
	expect((await refusal("PATCH", `/${admin.gate.accountId}`, { disabled: true }))[1]).toContain("command line");
	expect(await verdict(admin.ask("PATCH", `/${admin.gate.accountId}`, { disabled: false }))).toBe("200");
});
