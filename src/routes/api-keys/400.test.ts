import { afterAll, beforeAll, expect, test } from "bun:test";
import { type KeysGateway, type Refusal, startKeysGateway } from "../../../test/support/keys-gateway.ts";

let keys: KeysGateway;
let id: string;

beforeAll(async () => {
	keys = await startKeysGateway();
	({ id } = await keys.create());
});
afterAll(() => keys.stop());

async function refused(method: string, path: string, body?: unknown): Promise<{ status: number; body: Refusal }> {
	const answer = await keys.gate.call(method, path, body);
	return { status: answer.status, body: (await answer.json()) as Refusal };
}

/** Fields at fault, as `issues` names them. */
const at = (refusal: Refusal) => (refusal.issues ?? []).map((issue) => issue.path.join(".")).join(" ");
const NEW = { apiKeyType: "INFERENCE", description: "" };
const long = (count: number) => Array.from({ length: count }, (_, index) => `m${index}`);

const FIELDS: readonly (readonly [field: string, member: object])[] = [
	["limitPeriod", { limitPeriod: "WEEK" }],
	["limitPeriod", { limitPeriod: "epoch" }],
	["limitPeriod", { limitPeriod: 1 }],
	["description", { description: 5 }],
	["description", { description: "x".repeat(257) }],
	["description", { description: "😀".repeat(257) }],
	["description", { description: `e${"\u0301".repeat(300)}` }],
	["description", { description: "a\u0000b" }],
	["consumptionLimit", { consumptionLimit: 5 }],
	["consumptionLimit", { consumptionLimit: "5" }],
	["consumptionLimit", { consumptionLimit: [] }],
	["consumptionLimit.usd", { consumptionLimit: { usd: -0.01 } }],
	["consumptionLimit.usd", { consumptionLimit: { usd: "5" } }],
	["consumptionLimit.usd", { consumptionLimit: { usd: 10_000_000_000 } }],
	["consumptionLimit.diem", { consumptionLimit: { diem: true } }],
	["consumptionLimit.vcu", { consumptionLimit: { vcu: {} } }],
	["consumptionLimit.eur", { consumptionLimit: { eur: 1 } }],
	["consumptionLimit.__proto__", { consumptionLimit: JSON.parse('{"__proto__": 1}') }],
	["expiresAt", { expiresAt: "2000-01-01" }],
	["expiresAt", { expiresAt: "2099-02-30" }],
	["expiresAt", { expiresAt: "2099-02-29" }],
	["expiresAt", { expiresAt: "2099-13-01" }],
	["expiresAt", { expiresAt: "2099-1-1" }],
	["expiresAt", { expiresAt: "2099-01-01T00:00:00" }],
	["expiresAt", { expiresAt: "2099-01-01T24:00:00Z" }],
	["expiresAt", { expiresAt: "2099-01-01T00:00:00+0100" }],
	["expiresAt", { expiresAt: "2099-01-01T00:00Z" }],
	["expiresAt", { expiresAt: " " }],
	["expiresAt", { expiresAt: "never" }],
	["expiresAt", { expiresAt: 4_070_908_800_000 }],
	["expiresAt", { expiresAt: "+275760-09-13" }],
	["restrictions", { restrictions: ["a"] }],
	["restrictions.hosts", { restrictions: { hosts: ["a"] } }],
	["restrictions.models", { restrictions: { models: "a" } }],
	["restrictions.models", { restrictions: { models: [] } }],
	["restrictions.models", { restrictions: { models: long(101) } }],
	["restrictions.models.0", { restrictions: { models: [""] } }],
	["restrictions.models.1", { restrictions: { models: ["a", "b\n"] } }],
	["restrictions.models.0", { restrictions: { models: ["\ud800"] } }],
	["restrictions.models.0", { restrictions: { models: [null] } }],
	["restrictions.endpoints.1", { restrictions: { endpoints: ["chat", "chatt"] } }],
	["restrictions.networks.0", { restrictions: { networks: ["Base Mainnet"] } }],
	["restrictions.networks.1", { restrictions: { networks: ["base-mainnet", "bas-mainnet"] } }],
	["restrictions.addresses.0", { restrictions: { addresses: ["localhost"] } }],
	["restrictions.addresses.0", { restrictions: { addresses: ["192.0.2.0/33"] } }],
	["restrictions.addresses.0", { restrictions: { addresses: ["192.0.2.0/"] } }],
	["restrictions.addresses.0", { restrictions: { addresses: ["192.0.2.0/08"] } }],
	["restrictions.addresses.0", { restrictions: { addresses: ["192.0.2"] } }],
	["restrictions.addresses.1", { restrictions: { addresses: ["::1", "2001:db8::/129"] } }],
	["restrictions.addresses.0", { restrictions: { addresses: ["192.0.2.1/1/1"] } }],
	["colour", { colour: "red" }],
	["colour", { colour: null }],
	["apiKey", { apiKey: "sk_inf_mine" }],
	["accountId", { accountId: "acc_000000000000000000000000" }],
	["createdAt", { createdAt: "2020-01-01" }],
];

test.each(FIELDS)("%s is refused by name, at the making and at a change: %j", async (field, member) => {
	const before = await keys.show(id);
	for (const [method, body] of [
		["POST", { ...NEW, ...member }],
		["PATCH", { id, ...member }],
	] as const) {
		const refusal = await refused(method, "/api_keys", body);
		expect([method, refusal.status, refusal.body.code, at(refusal.body)]).toEqual([method, 400, "INVALID_REQUEST", field]);
		expect(typeof refusal.body.error).toBe("string");
		expect(refusal.body.details).toHaveProperty("_errors");
	}
	expect(await keys.show(id)).toEqual(before);
});

test("the plural of consumptionLimit is told the singular", async () => {
	for (const [method, body] of [
		["POST", NEW],
		["PATCH", { id }],
	] as const) {
		const refusal = await refused(method, "/api_keys", { ...body, consumptionLimits: { usd: 1 } });
		expect([refusal.status, at(refusal.body)]).toEqual([400, "consumptionLimits"]);
		expect(refusal.body.error).toMatch(/'consumptionLimit'/);
	}
});

test.each([
	["apiKeyType description", {}],
	["apiKeyType", { apiKeyType: "ROOT", description: "" }],
	["apiKeyType", { apiKeyType: null, description: "" }],
	["description", { apiKeyType: "ADMIN", description: null }],
	["id", { ...NEW, id: "5b0e6c1e-3f64-4f0e-9d0e-0a1b2c3d4e5f" }],
])("a new key without or with a wrong %s is refused: %j", async (fields, body) => {
	const refusal = await refused("POST", "/api_keys", body);
	expect([refusal.status, at(refusal.body)]).toEqual([400, fields]);
});

test.each([
	["id", {}],
	["id", { id: null }],
	["id", { id: 7 }],
	["apiKeyType", { id: "x", apiKeyType: "ADMIN" }],
	["usage", { id: "x", usage: {} }],
])("a change without or with a wrong %s is refused: %j", async (fields, body) => {
	const refusal = await refused("PATCH", "/api_keys", body);
	expect([refusal.status, at(refusal.body)]).toEqual([400, fields]);
});

test.each(["", "?id="])("DELETE /api_keys%s names the missing id", async (query) => {
	const refusal = await refused("DELETE", `/api_keys${query}`);
	expect([refusal.status, at(refusal.body)]).toEqual([400, "id"]);
});

test.each(["Id", "ids"])("DELETE /api_keys?%s=x names the parameter that there is not", async (name) => {
	const refusal = await refused("DELETE", `/api_keys?${name}=x`);
	expect([refusal.status, at(refusal.body)]).toEqual([400, name]);
});

test.each([
	"page=0",
	"page=-1",
	"page=1.5",
	"page=x",
	"page=1e3",
	"page=99999999999999999999",
	"limit=0",
	"limit=501",
	"limit=1_0",
])("GET /api_keys?%s is refused", async (query) => {
	const refusal = await refused("GET", `/api_keys?${query}`);
	expect([refusal.status, at(refusal.body)]).toEqual([400, query.split("=")[0] ?? ""]);
});

test.each(["", " ", "{", "[]", "null", '"x"', "1", '{"apiKeyType":"ADMIN","description":""', "\ufeff{}x"])(
	"a body of %j is refused",
	async (body) => {
		for (const method of ["POST", "PATCH"]) expect((await refused(method, "/api_keys", body)).status).toBe(400);
	},
);

test("a body that is no UTF-8 is refused", async () => {
	const bytes = new Uint8Array([...Buffer.from('{"apiKeyType":"ADMIN","description":"'), 0xff, ...Buffer.from('"}')]);
	const answer = await fetch(`${keys.gate.url}/api/v1/api_keys`, {
		method: "POST",
		headers: { authorization: `Bearer ${keys.gate.key}`, "content-type": "application/json" },
		body: bytes,
	});
	expect(answer.status).toBe(400);
});

test("the last of two members of one name counts, and no member reaches an object's prototype", async () => {
	const twice = '{"apiKeyType":"ADMIN","apiKeyType":"INFERENCE","description":""}';
	const answer = await keys.gate.call("POST", "/api_keys", twice);
	expect(((await answer.json()) as { data: { apiKeyType: string } }).data.apiKeyType).toBe("INFERENCE");
	const poisoned = '{"apiKeyType":"INFERENCE","description":"","__proto__":{"limitPeriod":"MONTH"}}';
	expect((await refused("POST", "/api_keys", poisoned)).status).toBe(400);
});

test("the 501st active key of an account is refused, and one may come when one has gone", async () => {
	const { secret, accountId, id: own } = await keys.gate.newKey({ key: { type: "ADMIN" } });
	const row = await keys.gate.admin.db.selectFrom("keys").selectAll().where("id", "=", own).executeTakeFirstOrThrow();
	const more = Array.from({ length: 498 }, (_, index) => ({
		...row,
		id: crypto.randomUUID(),
		hash: `seed-${accountId}-${index}`,
	}));
	await keys.gate.admin.db.insertInto("keys").values(more.slice(0, 250)).execute();
	await keys.gate.admin.db.insertInto("keys").values(more.slice(250)).execute();
	const last = await keys.create({}, secret);
	const answer = await keys.as(secret, "POST", "/api_keys", NEW);
	const refusal = (await answer.json()) as Refusal;
	expect([answer.status, refusal.code]).toEqual([400, "INVALID_REQUEST"]);
	expect(refusal.error).toContain("at most 500 active keys");
	expect(refusal.issues?.length).toBe(1);
	const all = await keys.as(secret, "GET", "/api_keys");
	expect(((await all.json()) as { data: unknown[] }).data).toHaveLength(500);
	expect((await keys.as(secret, "DELETE", `/api_keys?id=${last.id}`)).status).toBe(200);
	expect((await keys.as(secret, "POST", "/api_keys", NEW)).status).toBe(200);
});
