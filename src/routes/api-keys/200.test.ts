import { afterAll, beforeAll, expect, test } from "bun:test";
import Type from "typebox";
import { Compile } from "typebox/compile";
import { type Key, type KeysGateway, startKeysGateway, taken } from "../../../test/support/keys-gateway.ts";
import { CreatedKeySchema, KeySchema, KeyWithUsageSchema } from "../../access/index.ts";
import { RateLimitsSchema } from "./rate-limits.ts";

let keys: KeysGateway;

beforeAll(async () => {
	keys = await startKeysGateway();
});
afterAll(() => keys.stop());

/** What a value has against a schema of the API's document. */
const faults = (schema: Type.TSchema, value: unknown) =>
	Compile(schema)
		.Errors(value)
		.map((fault) => `${fault.instancePath} ${fault.message}`);

test("every answer is what the document says", async () => {
	const limited = { consumptionLimit: { usd: 5 }, restrictions: { models: ["a"] }, expiresAt: "2099-01-01" };
	for (const body of [{}, limited]) {
		const answer = await keys.gate.call("POST", "/api_keys", { apiKeyType: "ADMIN", description: "d", ...body });
		expect(answer.headers.get("cache-control")).toBe("no-store");
		const made = await taken<{ data: { id: string } }>(answer);
		expect(
			faults(Type.Object({ data: CreatedKeySchema, success: Type.Literal(true) }, { additionalProperties: false }), made),
		).toEqual([]);
		expect(faults(KeyWithUsageSchema, await keys.show(made.data.id))).toEqual([]);
		expect(faults(KeySchema, await keys.patch(made.data.id, {}))).toEqual([]);
	}
	const list = await taken(await keys.gate.call("GET", "/api_keys"));
	expect(faults(Type.Object({ object: Type.Literal("list"), data: Type.Array(KeyWithUsageSchema) }), list)).toEqual([]);
	expect(faults(RateLimitsSchema, await taken(await keys.gate.call("GET", "/api_keys/rate_limits")))).toEqual([]);
});

test("a new key works at once, and its secret is told only once", async () => {
	const made = await keys.create({ description: "bot" });
	expect(made.apiKey).toMatch(/^sk_inf_[0-9A-Za-z]{43}$/);
	expect(await keys.spend(made.apiKey, 1)).toBe("200");
	const shown = await keys.show(made.id);
	expect(shown.last6Chars).toBe(made.apiKey.slice(-6));
	for (const later of [shown, await keys.patch(made.id, { description: "x" }), (await keys.list()).data])
		expect(JSON.stringify(later)).not.toContain(made.apiKey);
	const admin = await keys.create({ apiKeyType: "ADMIN" });
	expect(admin.apiKey).toStartWith("sk_adm_");
	expect((await keys.create({}, admin.apiKey)).apiKeyType).toBe("INFERENCE");
});

test("the store keeps no secret", async () => {
	const { apiKey } = await keys.create();
	const rows = await keys.gate.admin.db.selectFrom("keys").selectAll().execute();
	expect(JSON.stringify(rows, (_, value) => (typeof value === "bigint" ? String(value) : value))).not.toContain(apiKey);
});

test("what is left out of a new key is its default", async () => {
	const made = await keys.create();
	expect(made).toMatchObject({
		consumptionLimit: { usd: null, diem: null, vcu: null },
		limitPeriod: "EPOCH",
		expiresAt: null,
		description: "",
	});
	expect(made).not.toHaveProperty("restrictions");
	const nulls = await keys.create({ consumptionLimit: null, limitPeriod: null, expiresAt: null, restrictions: null });
	expect(nulls).toMatchObject({ consumptionLimit: { usd: null, diem: null, vcu: null }, limitPeriod: "EPOCH", expiresAt: null });
});

test("limits come back as they were given, also those that are compared as less", async () => {
	for (const usd of [0, 1e-9, 5e-7, 0.1, 1 / 3, 12.5, 9_000_000.5, 9_999_999_999]) {
		const { id, consumptionLimit } = await keys.create({ consumptionLimit: { usd, diem: null, vcu: 7 } });
		expect(consumptionLimit).toEqual({ usd: Math.floor(usd * 1e9 + 1e-6) / 1e9, diem: null, vcu: 7 });
		expect((await keys.show(id)).consumptionLimits).toEqual(consumptionLimit);
	}
	const cut = await keys.create({ consumptionLimit: { usd: 0.1 + 0.2, diem: 1e-10 } });
	expect(cut.consumptionLimit).toEqual({ usd: 0.3, diem: 0, vcu: null });
});

test.each([
	["", null],
	[null, null],
	["2099-02-28", "2099-02-28T00:00:00.000Z"],
	["2096-02-29", "2096-02-29T00:00:00.000Z"],
	["2099-12-31T23:59:59Z", "2099-12-31T23:59:59.000Z"],
	["2099-12-31T23:59:59.5Z", "2099-12-31T23:59:59.500Z"],
	["2099-12-31T23:59:59+02:00", "2099-12-31T21:59:59.000Z"],
])("expiresAt %p becomes %p, at the making and at a change", async (expiresAt, told) => {
	expect((await keys.create({ expiresAt })).expiresAt).toBe(told);
	const { id } = await keys.create({ expiresAt: "2088-01-01" });
	expect((await keys.patch(id, { expiresAt })).expiresAt).toBe(told);
});

test("a change replaces what it names, leaves the rest, and null clears", async () => {
	const { id } = await keys.create({
		description: "a",
		consumptionLimit: { usd: 5, vcu: 3 },
		limitPeriod: "MONTH",
	});
	expect((await keys.patch(id, { consumptionLimit: { diem: 2 } })).consumptionLimits).toEqual({ usd: 5, diem: 2, vcu: 3 });
	expect((await keys.patch(id, { consumptionLimit: { usd: null } })).consumptionLimits).toEqual({ usd: null, diem: 2, vcu: 3 });
	expect((await keys.patch(id, { consumptionLimit: null })).consumptionLimits).toEqual({ usd: null, diem: null, vcu: null });
	expect(await keys.patch(id, { description: "ü😀", limitPeriod: null })).toMatchObject({
		description: "ü😀",
		limitPeriod: "MONTH",
	});
	expect(await keys.patch(id, { description: null })).toMatchObject({ description: "ü😀" });
	const models = { models: ["a", "b"] };
	expect((await keys.patch(id, { restrictions: models })).restrictions).toMatchObject(models);
	const both = await keys.patch(id, { restrictions: { addresses: ["192.0.2.0/24", "2001:db8::1"] } });
	expect(both.restrictions).toEqual({
		models: ["a", "b"],
		endpoints: null,
		networks: null,
		addresses: ["192.0.2.0/24", "2001:db8::1"],
	});
	expect(await keys.patch(id, { restrictions: null })).not.toHaveProperty("restrictions");
});

test("a change that names nothing changes nothing", async () => {
	const { id } = await keys.create({ description: "a", consumptionLimit: { usd: 5 }, expiresAt: "2099-01-01" });
	const { usage, currentPeriodUsage, ...before } = await keys.show(id);
	expect(await keys.patch(id, {})).toEqual(before);
	expect(await keys.patch(id, { consumptionLimit: {}, restrictions: {} })).toEqual(before);
	expect([usage?.trailingSevenDays.usd, currentPeriodUsage?.usd]).toEqual(["0.0000", "0.0000"]);
});

test("a change binds the next request", async () => {
	const { id, apiKey } = await keys.create();
	expect(await keys.spend(apiKey, 5)).toBe("200");
	await keys.patch(id, { consumptionLimit: { usd: 0.07 } });
	expect(await keys.spend(apiKey, 3)).toBe("402 API_KEY_USD_SPEND_LIMIT_EXCEEDED");
	expect(await keys.spend(apiKey, 2)).toBe("200");
	await keys.patch(id, { consumptionLimit: { usd: 0.08 } });
	expect(await keys.spend(apiKey, 1)).toBe("200");
	await keys.patch(id, { consumptionLimit: { usd: 0 } });
	expect(await keys.spend(apiKey, 1)).toBe("402 API_KEY_USD_SPEND_LIMIT_EXCEEDED");
	await keys.patch(id, { restrictions: { models: ["other"] } });
	expect(await keys.spend(apiKey, 1)).toBe("403 UNAUTHORIZED");
	await keys.patch(id, { restrictions: null, consumptionLimit: { usd: null } });
	expect(await keys.spend(apiKey, 1)).toBe("200");
});

test("usage is exact decimal text, and is there only where the answer has it", async () => {
	const { id, apiKey } = await keys.create({ consumptionLimit: { usd: 1 } });
	expect(await keys.spend(apiKey, 7)).toBe("200");
	const shown = await keys.show(id);
	expect(shown.usage?.trailingSevenDays).toEqual({ usd: "0.0700", vcu: "0.0000", diem: "0.0000" });
	expect(shown.currentPeriodUsage).toEqual({ usd: "0.0700", diem: "0.0000" });
	expect((await keys.list()).data.find((key) => key.id === id)).toEqual(shown);
	const changed = await keys.patch(id, { consumptionLimit: { usd: null, vcu: 5 } });
	expect([changed.usage, changed.currentPeriodUsage]).toEqual([undefined, undefined]);
	expect(await keys.show(id)).not.toHaveProperty("currentPeriodUsage");
});

test("the vcu limit is kept and never counted", async () => {
	const { id, apiKey } = await keys.create({ consumptionLimit: { vcu: 0 } });
	expect(await keys.spend(apiKey, 3)).toBe("200");
	expect((await keys.show(id)).consumptionLimits.vcu).toBe(0);
});

test("a key tells when it was used", async () => {
	const { id, apiKey } = await keys.create();
	expect((await keys.show(id)).lastUsedAt).toBeNull();
	const before = Date.now();
	await keys.spend(apiKey, 1);
	const usedAt = Date.parse((await keys.show(id)).lastUsedAt ?? "");
	expect(usedAt).toBeGreaterThanOrEqual(before);
	expect(usedAt).toBeLessThanOrEqual(Date.now());
});

test("the list has pages where they are asked for", async () => {
	const { secret, accountId } = await keys.gate.newKey({ key: { type: "ADMIN" } });
	for (let count = 0; count < 4; count++) await keys.create({ description: `${count}` }, secret);
	const read = async (query: string) => {
		const answer = await keys.as(secret, "GET", `/api_keys${query}`);
		const { data } = await taken<{ data: Key[] }>(answer);
		const header = (name: string) => answer.headers.get(`x-pagination-${name}`);
		return [data.map((key) => key.description).join(), header("page"), header("limit"), header("total"), header("total-pages")];
	};
	expect(accountId).not.toBe(keys.gate.accountId);
	expect(await read("")).toEqual(["3,2,1,0,", null, null, null, null]);
	expect(await read("?limit=2")).toEqual(["3,2", "1", "2", "5", "3"]);
	expect(await read("?limit=2&page=3")).toEqual(["", "3", "2", "5", "3"]);
	expect(await read("?page=1")).toEqual(["3,2,1,0,", "1", "500", "5", "1"]);
	expect(await read("?page=1000000&limit=500")).toEqual(["", "1000000", "500", "5", "1"]);
});

test("a key ends another one, and itself", async () => {
	const admin = await keys.create({ apiKeyType: "ADMIN" });
	const other = await keys.create();
	expect(await taken<object>(await keys.as(admin.apiKey, "DELETE", `/api_keys?id=${other.id}`))).toEqual({ success: true });
	expect(await keys.spend(other.apiKey, 1)).toBe("401 AUTHENTICATION_FAILED");
	expect((await keys.as(admin.apiKey, "DELETE", `/api_keys?id=${admin.id}`)).status).toBe(200);
	expect((await keys.as(admin.apiKey, "GET", "/api_keys")).status).toBe(401);
	const listed = (await keys.list()).data.map((key) => key.id);
	expect([listed.includes(other.id), listed.includes(admin.id)]).toEqual([false, false]);
});

test("any key may read what it may use now", async () => {
	const { apiKey, id } = await keys.create({ consumptionLimit: { usd: 0.05 }, expiresAt: "2099-01-01" });
	const read = async () =>
		(await taken<{ data: { accessPermitted: boolean } }>(await keys.as(apiKey, "GET", "/api_keys/rate_limits"))).data;
	const first = await read();
	expect(first).toMatchObject({
		accessPermitted: true,
		apiTier: { id: "paid", isCharged: true },
		keyExpiration: "2099-01-01T00:00:00.000Z",
		rateLimits: expect.arrayContaining([
			{
				apiModelId: "cent-model",
				rateLimits: [
					{ amount: 100_000, type: "RPM" },
					{ amount: 1_000_000_000, type: "TPM" },
				],
			},
		]),
	});
	await keys.spend(apiKey, 5);
	expect((await read()).accessPermitted).toBe(false);
	await keys.patch(id, { consumptionLimit: { usd: 0.06 } });
	expect((await read()).accessPermitted).toBe(true);
	const poor = await keys.gate.newKey({ creditUsd: "0" });
	const answer = await keys.as(poor.secret, "GET", "/api_keys/rate_limits");
	expect((await taken<{ data: object }>(answer)).data).toMatchObject({ accessPermitted: false, balances: { USD: 0, DIEM: 0 } });
});

test("a key reads its own limits, and may spend only where the rest of them pays a request", async () => {
	const restrictions = { models: ["cent-model"] };
	const { apiKey } = await keys.create({ consumptionLimit: { usd: 0.055 }, limitPeriod: "MONTH", restrictions });
	const read = async () =>
		(
			await taken<{ data: { accessPermitted: boolean; keyLimits: object[] } }>(
				await keys.as(apiKey, "GET", "/api_keys/rate_limits"),
			)
		).data;
	const limit = { currency: "USD", period: "MONTH", amount: 0.055, resetsAt: expect.stringMatching(/-01T00:00:00.000Z$/) };
	expect(await read()).toMatchObject({ accessPermitted: true, keyLimits: [{ ...limit, used: 0, left: 0.055 }] });
	await keys.spend(apiKey, 5);
	expect(await read()).toMatchObject({ accessPermitted: false, keyLimits: [{ ...limit, used: 0.05, left: 0.005 }] });
	expect(await keys.spend(apiKey, 1)).toStartWith("402");
	const balance = await taken<object>(await keys.as(apiKey, "GET", "/billing/balance"));
	expect(balance).toMatchObject({ canConsume: false, consumptionCurrency: null });
	const free = await keys.create();
	const answer = await keys.as(free.apiKey, "GET", "/api_keys/rate_limits");
	expect((await taken<{ data: object }>(answer)).data).toMatchObject({ keyLimits: [] });
});

test("an account whose money pays no request is not permitted", async () => {
	const restrictions = { models: ["cent-model"], endpoints: null, networks: null, addresses: null };
	const poor = await keys.gate.newKey({ creditUsd: "0.005", key: { restrictions } });
	expect(await keys.spend(poor.secret, 1)).toStartWith("402");
	const answer = await keys.as(poor.secret, "GET", "/api_keys/rate_limits");
	expect((await taken<{ data: object }>(answer)).data).toMatchObject({ accessPermitted: false });
});

test("the balances and the next epoch are those of the account and the day", async () => {
	const { secret } = await keys.gate.newKey({ creditUsd: "12.5" });
	const { data } = await taken<{ data: { balances: object; nextEpochBegins: string } }>(
		await keys.as(secret, "GET", "/api_keys/rate_limits"),
	);
	expect(data.balances).toEqual({ USD: 12.5, DIEM: 0 });
	const begins = Date.parse(data.nextEpochBegins);
	expect(begins % 86_400_000).toBe(0);
	expect(begins).toBeGreaterThan(Date.now() - 1);
	expect(begins).toBeLessThanOrEqual(Date.now() + 86_400_000);
});

test("HEAD tells what GET would, without a body", async () => {
	for (const path of ["/api_keys", "/api_keys/rate_limits", "/api_keys/rate_limits/log"]) {
		const answer = await keys.gate.call("HEAD", path);
		expect([answer.status, await answer.text()]).toEqual([200, ""]);
	}
});

test("the API's document has every route with its schemas and its refusals", async () => {
	interface Operation {
		readonly operationId: string;
		readonly description?: string;
		readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
		readonly requestBody?: { readonly content: Record<string, { readonly schema: { readonly properties: object } }> };
		readonly responses: Record<string, { readonly content?: Record<string, { readonly schema?: object }> }>;
	}
	const answer = await keys.gate.call("GET", "/openapi.json");
	const { paths } = await taken<{ paths: Record<string, Record<string, Operation>> }>(answer);
	const told = Object.entries(paths)
		.filter(([path]) => path.startsWith("/api_keys"))
		.flatMap(([path, item]) =>
			Object.entries(item).map(([method, { description = "", responses }]) => {
				const statuses = Object.keys(responses).filter((status) => status !== "200");
				return `${method} ${path} ${description.includes("ADMIN")} ${responses["200"]?.content?.["application/json"]?.schema !== undefined} ${statuses}`;
			}),
		);
	expect(told).toEqual([
		"get /api_keys true true 400,401,403,429,500,503",
		"post /api_keys true true 400,401,403,408,413,415,429,500,503",
		"patch /api_keys true true 400,401,403,404,408,413,415,429,500,503",
		"delete /api_keys true true 400,401,403,404,429,500,503",
		"get /api_keys/rate_limits false true 400,401,403,429,500,503",
		"get /api_keys/rate_limits/log false true 400,401,403,429,500,503",
		"get /api_keys/generate_web3_key false true 400,429,500,503",
		"post /api_keys/generate_web3_key false true 400,403,408,413,415,429,500,503",
		"get /api_keys/{id} true true 400,401,403,404,429,500,503",
	]);
	const created = paths["/api_keys"]?.post?.requestBody?.content["application/json"]?.schema.properties ?? {};
	expect(Object.keys(created)).toEqual([
		"apiKeyType",
		"description",
		"consumptionLimit",
		"limitPeriod",
		"expiresAt",
		"restrictions",
	]);
	expect(paths["/api_keys"]?.delete?.parameters).toMatchObject([{ name: "id", in: "query", required: true }]);
});
