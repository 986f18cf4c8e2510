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

let fixture: ContractGateway;
let document: ApiDocument;

beforeAll(async () => {
	fixture = await startContractGateway();
	document = (await fixture.document()) as ApiDocument;
});
afterAll(() => fixture.stop());

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
			fixture.gate.call("POST", "/api_keys", { apiKeyType: "INFERENCE", description: "a", restrictions: { [rule]: entries } });
		expect((await made(names)).status).toBe(200);
		expect((await made(["none"])).status).toBe(400);
	}
});

test.each([
	["GET", "/admin/accounts?cursor=", "cursor: is not a cursor of this list; begin again without one"],
	[
		"GET",
		"/billing/usage?startDate=2030-13-01T00:00:00Z",
		"startDate: must be an instant in UTC like 2030-01-31T12:00:00Z, or a date like 2030-01-31",
	],
	["GET", "/billing/usage-analytics?startDate=2030-1-1", "startDate: must be a date like 2030-01-31"],
	["GET", "/billing/usage-analytics?lookback=91d", "lookback: must be days from 1d to 90d"],
])("%s %s is refused by a rule in words", async (method, path, text) => {
	const answer = await fixture.gate.call(method, path);
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
		const made = await fixture.gate.call(
			"POST",
			"/admin/accounts/acc_none/credits",
			{ amountUsd: amount },
			{ "idempotency-key": "k" },
		);
		expect([amount, made.status]).toEqual([amount, status]);
	}
});

interface AnswerSchema {
	readonly $ref?: string;
	readonly type?: string | readonly string[];
	readonly properties?: Readonly<Record<string, AnswerSchema>>;
	readonly items?: AnswerSchema;
	readonly anyOf?: readonly AnswerSchema[];
	readonly additionalProperties?: boolean | AnswerSchema;
}

/** Paths of members in a value that its schema does not name, where it names any. */
function unnamed(value: unknown, given: AnswerSchema, at = ""): string[] {
	const schema =
		given.$ref === undefined ? given : (document.components.schemas[given.$ref.split("/").at(-1) ?? ""] as AnswerSchema);
	if (value === null || typeof value !== "object") return [];
	if (schema.anyOf !== undefined) {
		const fits = schema.anyOf.filter(
			(branch) => branch.$ref !== undefined || branch.type === (Array.isArray(value) ? "array" : "object"),
		);
		return fits.map((branch) => unnamed(value, branch, at)).toSorted((one, other) => one.length - other.length)[0] ?? [];
	}
	if (Array.isArray(value)) return value.flatMap((each, index) => unnamed(each, schema.items ?? {}, `${at}[${index}]`));
	const { properties = {}, additionalProperties: others } = schema;
	if (Object.keys(properties).length === 0) return [];
	return Object.entries(value).flatMap(([name, each]) => {
		const of = properties[name] ?? (typeof others === "object" ? others : undefined);
		return of === undefined ? (others === true ? [] : [`${at}.${name}`]) : unnamed(each, of, `${at}.${name}`);
	});
}

const PICTURES = ["YQ==", "YQ==", "YQ==", "YQ=="];
const HELLO = [{ role: "user", content: "hello" }];
const ANSWERED: readonly (readonly [method: string, path: string, body?: object])[] = [
	["GET", "/models?type=all"],
	["GET", "/models/traits"],
	["GET", "/api_keys"],
	["GET", "/api_keys/rate_limits"],
	["GET", "/admin/accounts"],
	["GET", "/billing/balance"],
	["GET", "/billing/usage"],
	["GET", "/characters"],
	["POST", "/chat/completions", { model: "text-large", messages: HELLO }],
	["POST", "/responses", { model: "text-large", input: "hello" }],
	["POST", "/messages", { model: "text-large", max_tokens: 5, messages: HELLO }],
	["POST", "/embeddings", { model: "text-vectors", input: "hello" }],
	["POST", "/augment/search", { query: "hello" }],
	["POST", "/image/multi-edit", { prompt: "together", modelId: "local-edit", images: PICTURES }],
	["POST", "/image/generate", { model: "z-image-turbo", prompt: "a", steps: 1_000 }],
	["POST", "/crypto/rpc/ethereum-mainnet", { jsonrpc: "2.0", id: 1, method: "eth_blockNumber", params: [] }],
	["POST", "/api_keys", { apiKeyType: "INFERENCE" }],
];

test("no answer has a member that its schema does not name", async () => {
	for (const [method, path, body] of ANSWERED) {
		const template = path.split("?")[0]?.replace("/ethereum-mainnet", "/{network}") ?? "";
		const answer = await fixture.gate.call(method, path, body);
		const declared = operation(method.toLowerCase(), template).responses[String(answer.status)];
		const schema = declared?.content["application/json"]?.schema as AnswerSchema;
		expect({ path, unnamed: unnamed(await answer.json(), schema) }).toEqual({ path, unnamed: [] });
	}
});

test("what a request may send beside its body stands in the document", () => {
	const names = operation("post", "/crypto/rpc/{network}").parameters?.map(({ name }) => name);
	expect(names).toContain("Idempotency-Key");
	const images = operation("post", "/image/multi-edit").requestBody?.content["application/json"]?.schema as AnswerSchema;
	expect(images.properties?.images).toMatchObject({ minItems: 1, maxItems: 3 });
});
