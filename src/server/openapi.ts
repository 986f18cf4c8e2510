import type { TSchema } from "typebox";
import { isRecord } from "../schema/is-record.ts";
import { LIST_KEYWORD, type ListName } from "../schema/listed-text.ts";
import { NAME_KEYWORD } from "../schema/named-schema.ts";
import type { DeclaredAnswer, Endpoint } from "./endpoint.ts";
import { IDEMPOTENCY_KEY } from "./idempotency-key.ts";
import { errorResponses, REQUEST_ID } from "./openapi-errors.ts";
import { COMPONENT_SCHEMAS } from "./openapi-schemas.ts";
import { extraParameters } from "./parse-query.ts";

type JsonObject = Record<string, unknown>;

export interface DescribedService {
	readonly version: string;
	readonly url: string;
	/** Texts that a schema lists by reference (`listedText`); they are known once all parts are assembled. */
	readonly names: Readonly<Record<ListName, readonly string[]>>;
}

/** Either header may carry a key, on every route. */
const KEYS: readonly JsonObject[] = [{ bearer: [] }, { key: [] }];

/** Builds the OpenAPI 3.1 document from the schemas that check the endpoints. */
export function openApiDocument(endpoints: readonly Endpoint[], service: DescribedService): JsonObject {
	const paths: Record<string, JsonObject> = {};
	for (const endpoint of endpoints) {
		const path = endpoint.path.replaceAll(/:([A-Za-z]+)(\{[^}]*\})?/g, "{$1}");
		const item = paths[path] ?? {};
		paths[path] = item;
		item[endpoint.method.toLowerCase()] = operation(endpoint);
	}
	const document = {
		openapi: "3.1.0",
		info: {
			title: "Turnpike",
			version: service.version,
			description: "One metered gate to models and chains. OpenAI-compatible where OpenAI has the route.",
			license: { name: "Apache-2.0", identifier: "Apache-2.0" },
		},
		servers: [{ url: `${service.url}/api/v1` }],
		security: KEYS,
		tags: [...new Set(endpoints.map((endpoint) => endpoint.tag))].map((name) => ({ name })),
		paths,
		components: {
			securitySchemes: {
				bearer: { type: "http", scheme: "bearer", description: "An API key of this service" },
				key: { type: "apiKey", in: "header", name: "x-api-key", description: "The same key, as Anthropic's clients send it" },
				wallet: {
					type: "apiKey",
					in: "header",
					name: "SIGN-IN-WITH-X",
					description: "A message signed by a wallet, as base64 of JSON. X-Sign-In-With-X is accepted as well",
				},
			},
			schemas: eventsOf(endpoints),
		},
	};
	const schemas: JsonObject = { ...COMPONENT_SCHEMAS, ...listsOf(service.names) };
	const { components, ...rest } = forReaders(document, schemas) as typeof document;
	return { ...rest, components: { ...components, schemas: { ...schemas, ...components.schemas } } };
}

const listsOf = (names: DescribedService["names"]): JsonObject =>
	Object.fromEntries(Object.entries(names).map(([name, texts]) => [name, { type: "string", enum: texts }]));

/**
 * Returns a schema as readers of the document expect it. Named schemas, which are added to `schemas`, and listed texts
 * become references. A choice of texts gets `type: string`.
 */
function forReaders(part: unknown, schemas: JsonObject): unknown {
	const replaced = (_key: string, value: unknown): unknown => {
		if (!isRecord(value)) return value;
		const { [NAME_KEYWORD]: name, [LIST_KEYWORD]: list, ...schema } = value;
		if (typeof name === "string") schemas[name] ??= forReaders(schema, schemas);
		if (name !== undefined || list !== undefined) return { $ref: `#/components/schemas/${String(name ?? list)}` };
		const isChoice =
			value.type === undefined && Array.isArray(value.enum) && value.enum.every((text) => typeof text === "string");
		return isChoice ? { type: "string", ...value } : value;
	};
	return JSON.parse(JSON.stringify(part, replaced));
}

function operation(endpoint: Endpoint): JsonObject {
	const parameters = [
		...pathParameters(endpoint.path),
		...queryParameters(endpoint.query),
		...extraParameters(endpoint).map((parameter) => ({ ...parameter, in: "query", required: false })),
		...idempotencyParameter(endpoint.idempotencyKey),
	];
	const answer = endpoint.answer ?? { type: "application/json", description: "Success" };
	return {
		operationId: endpoint.name + (endpoint.method === "GET" ? "" : `_${endpoint.method.toLowerCase()}`),
		tags: [endpoint.tag],
		summary: endpoint.summary,
		...descriptionMember(endpoint),
		...security(endpoint),
		...(parameters.length > 0 ? { parameters } : {}),
		...(endpoint.body ? { requestBody: { required: true, content: requestContent(endpoint.body) } } : {}),
		responses: {
			"200": {
				description: answer.description,
				headers: REQUEST_ID,
				content: answerContent(answer),
			},
			...errorResponses(endpoint),
		},
	};
}

function answerContent({ type, schema, others = {}, events }: DeclaredAnswer): JsonObject {
	const stream = events === undefined ? [] : [["text/event-stream", eventSchema(events)] as const];
	const contents = [[type, schema] as const, ...Object.entries(others), ...stream];
	return Object.fromEntries(contents.map(([name, of]) => [name, of === undefined ? {} : { schema: of }]));
}

/** Returns the schema of one event of a stream, as OpenAPI 3.2 describes it (Media Type Object, Server-Sent Events). */
function eventSchema({ name, lastData }: NonNullable<DeclaredAnswer["events"]>): JsonObject {
	const content = { contentMediaType: "application/json", contentSchema: { $ref: `#/components/schemas/${name}` } };
	const data = { type: "string", description: `JSON: ${name}`, ...content };
	const all = lastData === undefined ? data : { anyOf: [{ const: lastData }, data] };
	return { type: "object", properties: { event: { type: "string" }, data: all } };
}

/** Returns the schemas of event data by name. */
const eventsOf = (endpoints: readonly Endpoint[]): JsonObject =>
	Object.fromEntries(endpoints.flatMap(({ answer }) => (answer?.events ? [[answer.events.name, answer.events.schema]] : [])));

function requestContent({ schema, form, keepNulls, raw }: NonNullable<Endpoint["body"]>): JsonObject {
	const asJson = keepNulls === true || raw === true ? (schema: TSchema) => schema : withNulls;
	if (form === undefined) return { "application/json": { schema: asJson(schema) } };
	const { properties = {}, required = [] } = schema as { properties?: Record<string, JsonObject>; required?: string[] };
	const file = { type: "string", format: "binary", description: `A file of up to ${form.maxFileBytes} bytes` };
	const filesOf = (most: number): JsonObject => (most === 1 ? file : { type: "array", items: file, minItems: 1, maxItems: most });
	const others = Object.entries(form.others ?? {})
		// `file[]` is another spelling of the field itself; generated clients have one name for both.
		.filter(([name]) => name !== `${form.file}[]`)
		.map(([name, most]) => [name, filesOf(most)] as const);
	const needed = form.optional === true ? required : [form.file, ...required];
	const fields = { ...properties, [form.file]: filesOf(form.most ?? 1), ...Object.fromEntries(others) };
	const { [form.file]: texts } = properties;
	// The array takes as many pictures as there may be files.
	const counted =
		texts?.type === "array" ? { ...properties, [form.file]: { ...texts, minItems: 1, maxItems: form.most ?? 1 } } : properties;
	return {
		...(form.orJson === true
			? { "application/json": { schema: asJson({ ...schema, properties: counted, required: needed }) } }
			: {}),
		"multipart/form-data": { schema: { ...schema, properties: fields, required: needed } },
	};
}

/** Returns a body's schema in which optional members, and our own options, may also be null. */
function withNulls(schema: TSchema | JsonObject): JsonObject {
	const { properties = {}, required = [] } = schema as { properties?: Record<string, JsonObject>; required?: string[] };
	const fields = Object.entries(properties).map(([name, of]) => {
		const inner = name === "service_parameters" ? withNulls(of) : of;
		return [name, required.includes(name) ? inner : orNull(inner)] as const;
	});
	return { ...schema, properties: Object.fromEntries(fields) };
}

/** Returns the schema of a value or null; the description stays in front. */
function orNull(schema: JsonObject): JsonObject {
	const { description, deprecated, default: fallback, ...form } = schema;
	const annotations = { description, deprecated, default: fallback };
	const isOpen = form.type === undefined && form.enum === undefined && form.const === undefined && form.anyOf === undefined;
	if (isOpen) return schema;
	if (Array.isArray(form.anyOf)) return { ...annotations, ...form, anyOf: [...form.anyOf, { type: "null" }] };
	if (typeof form.type === "string" && form.enum === undefined) return { ...annotations, ...form, type: [form.type, "null"] };
	return { ...annotations, anyOf: [form, { type: "null" }] };
}

function security({ callers }: Endpoint): JsonObject {
	if (callers.includes("none")) return { security: [] };
	if (!callers.includes("wallet")) return {};
	return { security: [...(callers.includes("key") ? KEYS : []), { wallet: [] }] };
}

const NEEDS = { ADMIN: "Needs an ADMIN key.", OPERATOR: "Needs an ADMIN key of the operator's account." } as const;

function descriptionMember({ description, right }: Endpoint): JsonObject {
	const needs = right === undefined ? [] : [NEEDS[right]];
	const parts = [...(description ? [description] : []), ...needs];
	return parts.length > 0 ? { description: parts.join("\n\n") } : {};
}

function pathParameters(path: string): JsonObject[] {
	return [...path.matchAll(/:([A-Za-z]+)/g)].map((match) => ({
		name: match[1],
		in: "path",
		required: true,
		// No path has a backslash or a NUL.
		schema: { type: "string", minLength: 1, pattern: "^[^\\\\\\u0000]*$" },
	}));
}

function queryParameters(schema: TSchema | undefined): JsonObject[] {
	const { properties = {}, required = [] } = (schema ?? {}) as { properties?: Record<string, JsonObject>; required?: string[] };
	return Object.entries(properties).map(([name, property]) => ({
		name,
		in: "query",
		required: required.includes(name),
		// In parameters other than texts, an empty value and `null` mean absent.
		...(property.type === "string" ? { schema: property } : { allowEmptyValue: true, schema: orNull(property) }),
	}));
}

function idempotencyParameter(need: Endpoint["idempotencyKey"]): JsonObject[] {
	if (need === undefined) return [];
	const schema = { type: "string", pattern: IDEMPOTENCY_KEY.source };
	return [{ name: "Idempotency-Key", in: "header", required: need === "required", schema }];
}
