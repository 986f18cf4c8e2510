/** The API document: every answer has a schema, and a request's schema says what is checked. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ContractGateway, startContractGateway } from "./contract-gateway.ts";

interface Content {
	readonly schema?: object;
}
interface Operation {
	readonly parameters?: readonly { readonly name: string; readonly schema: { readonly pattern?: string } }[];
	readonly requestBody?: { readonly content: Readonly<Record<string, Content>> };
	readonly responses: Readonly<Record<string, { readonly content: Readonly<Record<string, Content>> }>>;
}
interface ApiDocument {
	readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
	readonly components: { readonly schemas: Readonly<Record<string, { readonly enum?: readonly string[] }>> };
}

let bed: ContractGateway;
let document: ApiDocument;

beforeAll(async () => {
	bed = await startContractGateway();
	document = (await bed.document()) as ApiDocument;
});
afterAll(() => bed.stop());

const operation = (method: string, path: string): Operation => {
	const found = document.paths[path]?.[method];
	if (found === undefined) throw new Error(`no ${method} ${path} in the document`);
	return found;
};

test("every answer and every body has a schema, of each media type", () => {
	const contents = Object.entries(document.paths).flatMap(([path, methods]) =>
		Object.entries(methods).flatMap(([method, { requestBody, responses }]) =>
			[requestBody, ...Object.values(responses)].flatMap((part) =>
				Object.entries(part?.content ?? {}).map(([type, { schema }]) => [`${method} ${path} ${type}`, typeof schema] as const),
			),
		),
	);
	expect(contents.length).toBeGreaterThan(400);
	expect(contents.filter(([, kind]) => kind !== "object")).toEqual([]);
});

test("a stream is an answer of its own beside the whole one", () => {
	for (const path of ["/chat/completions", "/responses", "/messages"])
		expect(Object.keys(operation("post", path).responses["200"]?.content ?? {})).toEqual([
			"application/json",
			"text/event-stream",
		]);
});

test("the parameters that are taken beside those of a route are named", () => {
	const names = (method: string, path: string) => (operation(method, path).parameters ?? []).map(({ name }) => name);
	expect(names("post", "/chat/completions")).toEqual(["x402Version", "api-version"]);
	expect(names("post", "/messages")).toEqual(["x402Version", "beta"]);
	expect(names("post", "/crypto/rpc/{network}")).toContain("x402Version");
});

test("a key may be restricted to what the document lists", async () => {
	const { EndpointName, NetworkName } = document.components.schemas;
	for (const [rule, names] of [
		["endpoints", EndpointName?.enum ?? []],
		["networks", NetworkName?.enum ?? []],
	] as const) {
		expect(names.length).toBeGreaterThan(20);
		const made = (entries: readonly string[]) =>
			bed.gate.call("POST", "/api_keys", { apiKeyType: "INFERENCE", description: "a", restrictions: { [rule]: entries } });
		expect((await made(names)).status).toBe(200);
		expect((await made(["none"])).status).toBe(400);
	}
});

test.each([
	["GET", "/admin/accounts?cursor=", "cursor: is not a cursor of this list; begin again without one"],
	["GET", "/billing/usage?startDate=2030-13-01T00:00:00Z", "startDate: must be an instant like 2030-01-31T12:00:00Z"],
	["GET", "/billing/usage-analytics?startDate=2030-1-1", "startDate: must be a date like 2030-01-31"],
	["GET", "/billing/usage-analytics?lookback=91d", "lookback: must be days from 1d to 90d"],
])("%s %s is refused by a rule in words", async (method, path, text) => {
	const answer = await bed.gate.call(method, path);
	const { error } = (await answer.json()) as { error: string };
	expect([answer.status, error]).toEqual([400, text]);
});

test("amounts have the form that the document gives them", async () => {
	for (const [amount, status] of [
		["1.50", 404],
		["", 400],
		["1,5", 400],
		["-1", 400],
		["1e3", 400],
		["0.1234567891", 400],
	] as const) {
		const made = await bed.gate.call(
			"POST",
			"/admin/accounts/acc_none/credits",
			{ amountUsd: amount },
			{ "idempotency-key": "k" },
		);
		expect([amount, made.status]).toEqual([amount, status]);
	}
});
