import type { TSchema } from "typebox";
import { ERROR_TABLE } from "../errors/index.ts";
import type { Endpoint } from "./endpoint.ts";

type JsonObject = Record<string, unknown>;

/** The OpenAPI 3.1 document, built from the endpoints' own schemas: what it says is what is checked. */
export function openApiDocument(endpoints: readonly Endpoint[], service: { version: string; url: string }): JsonObject {
	const paths: Record<string, JsonObject> = {};
	for (const endpoint of endpoints) {
		const path = endpoint.path.replaceAll(/:([A-Za-z]+)(\{[^}]*\})?/g, "{$1}");
		const item = paths[path] ?? {};
		paths[path] = item;
		item[endpoint.method.toLowerCase()] = operation(endpoint);
	}
	return {
		openapi: "3.1.0",
		info: {
			title: "Turnpike",
			version: service.version,
			description: "One metered gate to models and chains. OpenAI-compatible where OpenAI has the route.",
			license: { name: "Apache-2.0", identifier: "Apache-2.0" },
		},
		servers: [{ url: `${service.url}/api/v1` }],
		security: [{ bearer: [] }],
		tags: [...new Set(endpoints.map((endpoint) => endpoint.tag))].map((name) => ({ name })),
		paths,
		components: {
			securitySchemes: { bearer: { type: "http", scheme: "bearer", description: "An API key of this service" } },
			schemas: { Error: errorSchema(), OpenAiError: openAiErrorSchema() },
		},
	};
}

function operation(endpoint: Endpoint): JsonObject {
	const parameters = [...pathParameters(endpoint.path), ...queryParameters(endpoint.query)];
	const answer = endpoint.answer ?? { type: "application/json", description: "Success" };
	return {
		operationId: endpoint.name + (endpoint.method === "GET" ? "" : `_${endpoint.method.toLowerCase()}`),
		tags: [endpoint.tag],
		summary: endpoint.summary,
		...described(endpoint),
		...(endpoint.callers.includes("none") ? { security: [] } : {}),
		...(parameters.length > 0 ? { parameters } : {}),
		...(endpoint.body
			? { requestBody: { required: true, content: { "application/json": { schema: endpoint.body.schema } } } }
			: {}),
		responses: {
			"200": {
				description: answer.description,
				headers: { "X-Request-ID": { schema: { type: "string", minLength: 32, maxLength: 32 } } },
				content: { [answer.type]: answer.schema ? { schema: answer.schema } : {} },
			},
			...errorResponses(endpoint),
		},
	};
}

function described({ description, right }: Endpoint): JsonObject {
	const needs = right === "ADMIN" ? ["Needs an ADMIN key."] : [];
	const parts = [...(description ? [description] : []), ...needs];
	return parts.length > 0 ? { description: parts.join("\n\n") } : {};
}

function pathParameters(path: string): JsonObject[] {
	return [...path.matchAll(/:([A-Za-z]+)/g)].map((match) => ({
		name: match[1],
		in: "path",
		required: true,
		schema: { type: "string" },
	}));
}

function queryParameters(schema: TSchema | undefined): JsonObject[] {
	const { properties = {}, required = [] } = (schema ?? {}) as { properties?: Record<string, JsonObject>; required?: string[] };
	return Object.entries(properties).map(([name, property]) => ({
		name,
		in: "query",
		required: required.includes(name),
		schema: property,
	}));
}

/** Statuses that an endpoint can answer, from its declaration. */
function errorStatuses(endpoint: Endpoint): number[] {
	const statuses = new Set([429, 500, 503, ...(endpoint.errors ?? [])]);
	if (!endpoint.callers.includes("none")) for (const status of [401, 403]) statuses.add(status);
	if (endpoint.query) statuses.add(400);
	if (endpoint.path.includes(":")) statuses.add(404);
	if (endpoint.body) for (const status of [400, 408, 413, 415]) statuses.add(status);
	if (endpoint.kind === "metered") for (const status of [402, 404, 410, 422, 504]) statuses.add(status);
	return [...statuses].sort((a, b) => a - b);
}

function errorResponses(endpoint: Endpoint): JsonObject {
	const schema = { $ref: `#/components/schemas/${endpoint.openAi ? "OpenAiError" : "Error"}` };
	const responses: JsonObject = {};
	for (const status of errorStatuses(endpoint)) {
		const codes = Object.entries(ERROR_TABLE).filter(([, [known]]) => known === status);
		responses[String(status)] = {
			description: codes.map(([code]) => code.replace("REQUEST_TIMEOUT_UPLOAD", "REQUEST_TIMEOUT")).join(", "),
			content: { "application/json": { schema } },
		};
	}
	return responses;
}

const details = {
	code: { type: "string", description: "Machine code" },
	details: { type: "object", description: "Validation faults, nested by field" },
	issues: {
		type: "array",
		items: { type: "object", properties: { path: { type: "array" }, code: { type: "string" }, message: { type: "string" } } },
	},
};

function errorSchema(): JsonObject {
	return { type: "object", required: ["error"], properties: { error: { type: "string" }, ...details } };
}

function openAiErrorSchema(): JsonObject {
	return {
		type: "object",
		required: ["error"],
		properties: {
			error: {
				type: "object",
				required: ["message", "type", "param", "code"],
				properties: {
					message: { type: "string" },
					type: { type: "string" },
					param: { type: ["string", "null"] },
					code: { type: ["string", "null"] },
				},
			},
			...details,
		},
	};
}
