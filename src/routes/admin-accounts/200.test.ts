import { afterAll, beforeAll, expect, test } from "bun:test";
import Type from "typebox";
import { Compile } from "typebox/compile";
import { type AccountJson, type AdminGateway, type Listed, startAdminGateway } from "../../../test/support/admin-gateway.ts";
import { taken, verdict } from "../../../test/support/keys-gateway.ts";
import {
	AccountSchema,
	BookedSchema,
	CreatedKeySchema,
	KeySchema,
	KeyWithUsageSchema,
	MoneyEntrySchema,
	RefundedSchema,
} from "../../access/index.ts";
import { pageAnswer } from "./schema.ts";

let admin: AdminGateway;

beforeAll(async () => {
	admin = await startAdminGateway();
});
afterAll(() => admin.stop());

/** What a value has against a schema of the API's document. */
const faults = (schema: Type.TSchema, value: unknown) =>
	Compile(schema)
		.Errors(value)
		.map((fault) => `${fault.instancePath} ${fault.message}`);
const changed = (data: Type.TSchema) => Type.Object({ data, success: Type.Literal(true) }, { additionalProperties: false });

test("every answer is what the document says", async () => {
	const { id } = await admin.account({ creditUsd: "5" });
	const { apiKey } = await admin.keyOf(id);
	const requestId = await admin.charge(apiKey, 10);
	const posts = [
		["", { name: "b", tier: "partner" }, AccountSchema],
		[`/${id}/credits`, { amountUsd: "1.5" }, BookedSchema],
		[`/${id}/debits`, { amountUsd: "0.5" }, BookedSchema],
		[`/${id}/refunds`, { requestId, amountUsd: "0.01" }, RefundedSchema],
		[`/${id}/keys`, { apiKeyType: "ADMIN", description: "d", consumptionLimit: { usd: 5 } }, CreatedKeySchema],
	] as const;
	for (const [index, [path, body, schema]] of posts.entries())
		expect(faults(changed(schema), await taken(await admin.ask("POST", path, body, `document-${index}`)))).toEqual([]);
	expect(faults(changed(AccountSchema), await taken(await admin.ask("PATCH", `/${id}`, { name: "c" })))).toEqual([]);
	expect(faults(Type.Object({ data: AccountSchema }), await taken(await admin.ask("GET", `/${id}`)))).toEqual([]);
	expect(faults(pageAnswer(AccountSchema), await taken(await admin.ask("GET", "?limit=1")))).toEqual([]);
	for (const list of ["credits", "debits", "refunds"]) {
		const page = await taken<Listed<unknown>>(await admin.ask("GET", `/${id}/${list}`));
		expect(faults(pageAnswer(MoneyEntrySchema), page)).toEqual([]);
		expect(page.data.length).toBeGreaterThan(0);
	}
	const keys = await taken<{ data: { id: string }[] }>(await admin.ask("GET", `/${id}/keys`));
	expect(faults(Type.Object({ object: Type.Literal("list"), data: Type.Array(KeyWithUsageSchema) }), keys)).toEqual([]);
	expect(await taken(await admin.ask("DELETE", `/${id}/keys/${keys.data[0]?.id}`))).toEqual({ success: true });
});

test("a customer is made, given credit and a key, and spends it", async () => {
	const made = await admin.account({ name: "  shop customer ", creditUsd: "0.05" });
	expect(made).toMatchObject({ name: "shop customer", tier: "paid", operator: false, disabled: false, balanceUsd: "0.0500" });
	const answer = await admin.ask("POST", `/${made.id}/keys`, { apiKeyType: "INFERENCE" });
	expect(answer.headers.get("cache-control")).toBe("no-store");
	const { apiKey } = (await taken<{ data: { apiKey: string } }>(answer)).data;
	expect(await admin.spend(apiKey, 5)).toBe("200");
	expect(await admin.spend(apiKey, 1)).toBe("402 INSUFFICIENT_BALANCE");
	await admin.credit(made.id, "0.02", "order-1");
	expect(await admin.spend(apiKey, 2)).toBe("200");
	expect((await admin.showAccount(made.id)).balanceUsd).toBe("0.0000");
});

test("a change binds the next request", async () => {
	const { id } = await admin.account({ creditUsd: "1" });
	const { apiKey, id: keyId } = await admin.keyOf(id);
	const change = async (body: object) => (await taken<{ data: AccountJson }>(await admin.ask("PATCH", `/${id}`, body))).data;
	expect(await admin.spend(apiKey, 1)).toBe("200");
	expect((await change({ disabled: true })).disabled).toBe(true);
	expect(await admin.spend(apiKey, 1)).toBe("403 API_ACCESS_DISABLED");
	expect((await change({ disabled: false })).disabled).toBe(false);
	expect(await admin.spend(apiKey, 1)).toBe("200");
	const wallet = `0x${"ab".repeat(20)}`;
	const all = { name: "new", tier: "staff", stakeDiem: "2.5", bundledUsd: "3.000000001", wallet };
	expect(await change(all)).toMatchObject({
		name: "new",
		tier: "staff",
		stakeDiemToday: "0.0000",
		stakeDiemNext: "2.5000",
		stakeSource: "operator",
		bundledUsd: "3.000000001",
		wallet,
	});
	expect(await change({ wallet: null, bundledUsd: "0" })).toMatchObject({ wallet: null, bundledUsd: "0.0000", name: "new" });
	expect(await change({})).toMatchObject({ name: "new", tier: "staff" });
	await taken(await admin.ask("DELETE", `/${id}/keys/${keyId}`));
	expect(await admin.spend(apiKey, 1)).toBe("401 AUTHENTICATION_FAILED");
});

test("a key of an account is limited and named, and what is left out stays", async () => {
	const { id } = await admin.account({ creditUsd: "1" });
	const { apiKey, id: keyId } = await admin.keyOf(id, { consumptionLimit: { usd: 5 } });
	const change = async (body: object) =>
		(await taken<{ data: object }>(await admin.ask("PATCH", `/${id}/keys/${keyId}`, body))).data;
	const changed = await change({ description: "for the shop", consumptionLimit: { usd: 0.01 } });
	expect(faults(KeySchema, changed)).toEqual([]);
	expect(changed).toMatchObject({ id: keyId, description: "for the shop", consumptionLimits: { usd: 0.01, diem: null } });
	expect(await admin.spend(apiKey, 1)).toBe("200");
	expect(await admin.spend(apiKey, 1)).toBe("402 API_KEY_USD_SPEND_LIMIT_EXCEEDED");
	expect(await change({ consumptionLimit: null })).toMatchObject({
		description: "for the shop",
		consumptionLimits: { usd: null },
	});
	expect(await admin.spend(apiKey, 1)).toBe("200");
});

test("the same key and body again returns the first answer, whatever happened in between", async () => {
	const { id } = await admin.account();
	const first = await admin.ask("POST", `/${id}/credits`, { amountUsd: "2.5" }, "order_77-a");
	expect(first.headers.get("idempotent-replayed")).toBeNull();
	const said = await first.text();
	const { apiKey } = await admin.keyOf(id);
	await admin.charge(apiKey, 10);
	for (const amountUsd of ["2.5", "2.500000000"]) {
		const again = await admin.ask("POST", `/${id}/credits`, { amountUsd }, "order_77-a");
		expect([again.status, again.headers.get("idempotent-replayed"), await again.text()]).toEqual([200, "true", said]);
	}
	expect((await admin.showAccount(id)).balanceUsd).toBe("2.4000");
	const debits = [1, 2].map(() => admin.ask("POST", `/${id}/debits`, { amountUsd: "1" }, "back-1"));
	const answers = await Promise.all(debits);
	expect(answers.map((answer) => answer.headers.get("idempotent-replayed")).sort()).toEqual([null, "true"].sort());
	expect(new Set(await Promise.all(answers.map((answer) => answer.text()))).size).toBe(1);
	expect((await admin.showAccount(id)).balanceUsd).toBe("1.4000");
});

test("fifty payments at once under ten keys are ten credits", async () => {
	const { id } = await admin.account();
	const answers = await Promise.all(
		Array.from({ length: 50 }, (_, index) =>
			verdict(admin.ask("POST", `/${id}/credits`, { amountUsd: "1" }, `burst-${index % 10}`)),
		),
	);
	expect(new Set(answers)).toEqual(new Set(["200"]));
	expect((await admin.showAccount(id)).balanceUsd).toBe("10.0000");
});

test("an account is made once under a key, and is told as it is now", async () => {
	const make = () => admin.ask("POST", "", { name: "once", creditUsd: "3" }, "signup-9");
	const first = await taken<{ data: AccountJson }>(await make());
	await taken(await admin.ask("PATCH", `/${first.data.id}`, { tier: "partner" }));
	const again = await make();
	expect(again.headers.get("idempotent-replayed")).toBe("true");
	const { data } = await taken<{ data: AccountJson }>(again);
	expect([data.id, data.tier, data.balanceUsd]).toEqual([first.data.id, "partner", "3.0000"]);
});

test("a debit takes what a server has leased and no request holds", async () => {
	const { id } = await admin.account({ creditUsd: "1" });
	const { apiKey } = await admin.keyOf(id);
	await admin.charge(apiKey, 10);
	const booked = await taken<{ data: { balanceUsd: string } }>(
		await admin.ask("POST", `/${id}/debits`, { amountUsd: "0.9" }, "all"),
	);
	expect(booked.data.balanceUsd).toBe("0.0000");
	expect(await admin.spend(apiKey, 1)).toBe("402 INSUFFICIENT_BALANCE");
});

test("a refund goes back to the currencies that paid, USD first, in parts until nothing is left", async () => {
	const { id } = await admin.account({ creditUsd: "1" });
	await taken(await admin.ask("PATCH", `/${id}`, { bundledUsd: "0.06" }));
	const { apiKey } = await admin.keyOf(id);
	const requestId = await admin.charge(apiKey, 10);
	const back = (body: object, key: string) => admin.ask("POST", `/${id}/refunds`, { requestId, ...body }, key);
	const first = await taken<{ data: object }>(await back({ amountUsd: "0.05" }, "complaint-1"));
	expect(first.data).toMatchObject({
		amountUsd: "0.0500",
		parts: [
			{ currency: "BUNDLED_CREDITS", amount: "0.0100", balance: "0.0100" },
			{ currency: "USD", amount: "0.0400", balance: "1.0000" },
		],
	});
	const rest = await back({}, "complaint-2");
	const said = await rest.text();
	expect(JSON.parse(said).data.parts).toEqual([{ currency: "BUNDLED_CREDITS", amount: "0.0500", balance: "0.0600" }]);
	const again = await back({}, "complaint-2");
	expect([again.headers.get("idempotent-replayed"), await again.text()]).toEqual(["true", said]);
	expect(await admin.showAccount(id)).toMatchObject({ balanceUsd: "1.0000", bundledUsd: "0.0600" });
	const { data } = await taken<Listed<{ reference: string; requestId: string }>>(await admin.ask("GET", `/${id}/refunds`));
	expect(data.map((entry) => entry.reference)).toEqual(["complaint-2", "complaint-1", "complaint-1"]);
	expect(new Set(data.map((entry) => entry.requestId))).toEqual(new Set([requestId]));
});

test("pages of accounts follow each other, newest first, each account once, also while new ones come", async () => {
	const ids = [];
	for (let count = 0; count < 7; count++) ids.push((await admin.account({ name: `page ${count}` })).id);
	const pages: AccountJson[] = [];
	let cursor: string | null = null;
	do {
		const query: string = cursor === null ? "" : `&cursor=${cursor}`;
		const page: Listed<AccountJson> = await taken(await admin.ask("GET", `?limit=2${query}`));
		pages.push(...page.data);
		await admin.account({ name: "late" });
		cursor = page.nextCursor;
	} while (cursor !== null);
	const seen = pages.map(({ id }) => id);
	expect(seen.slice(0, 7).sort()).toEqual(ids.toSorted());
	const times = pages.map(({ createdAt }) => createdAt);
	expect(times).toEqual(times.toSorted().toReversed());
	expect(new Set(seen).size).toBe(seen.length);
	expect(seen.at(-1)).toBe(admin.gate.accountId);
});

test("pages of credits follow each other, newest first", async () => {
	const { id } = await admin.account({ creditUsd: "1" });
	for (let count = 0; count < 4; count++) await admin.credit(id, "0.5", `${id}-${count}`);
	const first = await taken<Listed<{ reference: string; amount: string; balance: string }>>(
		await admin.ask("GET", `/${id}/credits?limit=3`),
	);
	expect(first.data.map(({ reference, balance }) => [reference, balance])).toEqual([
		[`${id}-3`, "3.0000"],
		[`${id}-2`, "2.5000"],
		[`${id}-1`, "2.0000"],
	]);
	const second = await taken<Listed<{ reference: string }>>(
		await admin.ask("GET", `/${id}/credits?limit=3&cursor=${first.nextCursor}`),
	);
	expect(second.data.map(({ reference }) => reference)).toEqual([`${id}-0`, `starting-credit:${id}`]);
	expect(second.nextCursor).toBeNull();
});

test("an account without keys, debits or refunds has empty lists", async () => {
	const { id } = await admin.account();
	for (const list of ["debits", "refunds", "credits"])
		expect(await taken<object>(await admin.ask("GET", `/${id}/${list}`))).toEqual({ object: "list", data: [], nextCursor: null });
	expect(await taken<object>(await admin.ask("GET", `/${id}/keys`))).toEqual({ object: "list", data: [] });
});

test("the books are right after all that", async () => {
	const { ok, findings } = await admin.gate.audit();
	expect({ ok, findings }).toEqual({ ok: true, findings: [] });
});
