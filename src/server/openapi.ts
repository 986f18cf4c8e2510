import type { TSchema } from "typebox";
import { ERROR_TABLE, type ErrorCode } from "../errors/index.ts";
import type { Endpoint } from "./endpoint.ts";
import { errorForm, errorStatus } from "./error-body.ts";
import { IDEMPOTENCY_KEY } from "./idempotency-key.ts";

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
			securitySchemes: {
				bearer: { type: "http", scheme: "bearer", description: "An API key of this service" },
				key: { type: "apiKey", in: "header", name: "x-api-key", description: "The same key, as Anthropic's clients send it" },
				wallet: {
					type: "apiKey",
					in: "header",
					name: "SIGN-IN-WITH-X",
					description: "A message that a wallet signed, base64 of JSON; X-Sign-In-With-X is taken as well",
				},
			},
			schemas: {
				Error: errorSchema(),
				OpenAiError: openAiErrorSchema(),
				AnthropicError: anthropicErrorSchema(),
				X402Error: x402ErrorSchema(),
				PaymentRequired: paymentRequiredSchema(),
			},
		},
	};
}

function operation(endpoint: Endpoint): JsonObject {
	const parameters = [
		...pathParameters(endpoint.path),
		...queryParameters(endpoint.query),
		...idempotencyParameter(endpoint.idempotencyKey),
	];
	const answer = endpoint.answer ?? { type: "application/json", description: "Success" };
	return {
		operationId: endpoint.name + (endpoint.method === "GET" ? "" : `_${endpoint.method.toLowerCase()}`),
		tags: [endpoint.tag],
		summary: endpoint.summary,
		...described(endpoint),
		...security(endpoint),
		...(parameters.length > 0 ? { parameters } : {}),
		...(endpoint.body ? { requestBody: { required: true, content: requestContent(endpoint.body) } } : {}),
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

function requestContent({ schema, form }: NonNullable<Endpoint["body"]>): JsonObject {
	if (form === undefined) return { "application/json": { schema } };
	const { properties = {}, required = [] } = schema as { properties?: Record<string, JsonObject>; required?: string[] };
	const file = { type: "string", format: "binary", description: `A file of up to ${form.maxFileBytes} bytes` };
	const filesOf = (most: number): JsonObject => (most === 1 ? file : { type: "array", items: file, minItems: 1, maxItems: most });
	const others = Object.entries(form.others ?? {}).map(([name, most]) => [name, filesOf(most)] as const);
	const needed = form.optional === true ? required : [form.file, ...required];
	const shown = { ...properties, [form.file]: filesOf(form.most ?? 1), ...Object.fromEntries(others) };
	return {
		...(form.orJson === true ? { "application/json": { schema: { ...schema, required: needed } } } : {}),
		"multipart/form-data": { schema: { ...schema, properties: shown, required: needed } },
	};
}

function security({ callers, anthropic }: Endpoint): JsonObject {
	if (callers.includes("none")) return { security: [] };
	if (!callers.includes("wallet")) return {};
	const keys = [{ bearer: [] }, ...(anthropic === true ? [{ key: [] }] : [])];
	return { security: [...(callers.includes("key") ? keys : []), { wallet: [] }] };
}

const NEEDS = { ADMIN: "Needs an ADMIN key.", OPERATOR: "Needs an ADMIN key of the operator's account." } as const;

function described({ description, right }: Endpoint): JsonObject {
	const needs = right === undefined ? [] : [NEEDS[right]];
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

function idempotencyParameter(need: Endpoint["idempotencyKey"]): JsonObject[] {
	if (need === undefined) return [];
	const schema = { type: "string", pattern: IDEMPOTENCY_KEY.source };
	return [{ name: "Idempotency-Key", in: "header", required: need === "required", schema }];
}

const BY_KEY: readonly ErrorCode[] = ["AUTHENTICATION_FAILED", "UNAUTHORIZED", "API_ACCESS_DISABLED"];
const BY_WALLET: readonly ErrorCode[] = ["X402_INVALID_SIGN_IN"];
/** Of a wallet that pays: it is told how, and may do so with the request itself. */
const BY_PAYMENT: readonly ErrorCode[] = [
	"PAYMENT_REQUIRED",
	"X402_INVALID_PAYMENT",
	"PAYMENT_VERIFICATION_FAILED",
	"X402_SETTLEMENT_PENDING",
	"X402_FACILITATOR_UNAVAILABLE",
];
const BY_BODY: readonly ErrorCode[] = ["REQUEST_TIMEOUT_UPLOAD", "PAYLOAD_TOO_LARGE", "INVALID_CONTENT_TYPE"];
/** Of the metered road: the model, the money, the work. */
const BY_METERED: readonly ErrorCode[] = [
	"INVALID_MODEL",
	"INSUFFICIENT_BALANCE",
	"API_KEY_USD_SPEND_LIMIT_EXCEEDED",
	"API_KEY_DIEM_SPEND_LIMIT_EXCEEDED",
	"MODEL_NOT_FOUND",
	"MODEL_REMOVED",
	"MODEL_OVERLOADED",
	"INFERENCE_FAILED",
	"MODEL_OFFLINE",
	"MODEL_AT_CAPACITY",
	"REQUEST_TIMEOUT",
];
/** What a declaration means that names a status only. */
const BY_STATUS: Readonly<Record<number, ErrorCode>> = { 404: "NOT_FOUND", 504: "REQUEST_TIMEOUT" };

/** Errors that an endpoint can answer, from its declaration. */
function errorCodes(endpoint: Endpoint): Set<ErrorCode> {
	// 400: a query parameter that the route does not have.
	const always: readonly ErrorCode[] = ["INVALID_REQUEST", "RATE_LIMIT_EXCEEDED", "UNKNOWN_ERROR", "SERVICE_UNAVAILABLE"];
	const codes = new Set<ErrorCode>([...always, ...(endpoint.codes ?? [])]);
	const add = (more: readonly ErrorCode[]) => {
		for (const code of more) codes.add(code);
	};
	if (!endpoint.callers.includes("none")) add(BY_KEY);
	if (endpoint.callers.includes("wallet")) add(BY_WALLET);
	if (endpoint.callers.includes("wallet") && endpoint.kind === "metered") add(BY_PAYMENT);
	if (endpoint.body) add(BY_BODY);
	if (endpoint.idempotencyKey) add(["IDEMPOTENCY_KEY_INVALID", "IDEMPOTENCY_KEY_REUSED"]);
	if (endpoint.kind === "metered") add(BY_METERED);
	const has404 = [...codes].some((code) => ERROR_TABLE[code][0] === 404);
	const statuses = [...(endpoint.errors ?? []), ...(endpoint.path.includes(":") && !has404 ? [404] : [])];
	add(statuses.flatMap((status) => BY_STATUS[status] ?? []));
	return codes;
}

function errorResponses(endpoint: Endpoint): JsonObject {
	const form = errorForm(endpoint);
	const schema = { $ref: `#/components/schemas/${ERROR_SCHEMAS[form]}` };
	const byStatus = new Map<number, ErrorCode[]>();
	for (const code of errorCodes(endpoint)) {
		const status = errorStatus(code, form);
		byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
	}
	const responses: JsonObject = {};
	for (const [status, codes] of [...byStatus].sort(([a], [b]) => a - b)) {
		responses[String(status)] = {
			description: codes.map((code) => code.replace("REQUEST_TIMEOUT_UPLOAD", "REQUEST_TIMEOUT")).join(", "),
			...(codes.includes("PAYMENT_REQUIRED") ? PAYMENT_REQUIRED_HEADERS : {}),
			content: { "application/json": { schema: codes.includes("PAYMENT_REQUIRED") ? { anyOf: [schema, OFFER] } : schema } },
		};
	}
	return responses;
}

const ERROR_SCHEMAS = { openai: "OpenAiError", anthropic: "AnthropicError", plain: "Error", x402: "X402Error" } as const;
const OFFER = { $ref: "#/components/schemas/PaymentRequired" };
const PAYMENT_REQUIRED_HEADERS = {
	headers: { "PAYMENT-REQUIRED": { description: "x402 version 2, base64 of JSON", schema: { type: "string" } } },
};

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

function anthropicErrorSchema(): JsonObject {
	const text = { type: "string" };
	const code = { type: "object", properties: { error_code: text } };
	return {
		type: "object",
		required: ["type", "error"],
		properties: {
			type: { const: "error" },
			error: { type: "object", required: ["type", "message"], properties: { type: text, message: text, details: code } },
			...details,
		},
	};
}

function x402ErrorSchema(): JsonObject {
	return {
		type: "object",
		required: ["error"],
		properties: {
			error: { type: "string", description: "Machine code; text on 429" },
			message: { type: "string" },
			details: { type: "object" },
			issues: details.issues,
		},
	};
}

/** Without a credential: what can be paid, and how to sign in. To a wallet: what it has, and how to top up. */
function paymentRequiredSchema(): JsonObject {
	const object = { type: "object" };
	return {
		...object,
		properties: {
			x402Version: { type: "integer" },
			error: { type: "string" },
			resource: object,
			accepts: { type: "array", items: object },
			extensions: object,
			authOptions: object,
			code: { type: "string" },
			reason: { type: "string" },
			message: { type: "string" },
			description: { type: "string" },
			currentBalanceUsd: { type: "number" },
			minimumBalanceUsd: { type: "number" },
			suggestedTopUpUsd: { type: "number" },
			minimumTopUpUsd: { type: "number" },
			supportedTokens: { type: "array", items: { type: "string" } },
			supportedChains: { type: "array", items: { type: "string" } },
			topUpInstructions: object,
			siwxChallenge: object,
		},
	};
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
