/** The schemas that many answers of the API document share: those of errors, and what a 402 offers. */
import type { ErrorForm } from "./error-body.ts";

type JsonObject = Record<string, unknown>;

export const ERROR_SCHEMAS = {
	openai: "OpenAiError",
	anthropic: "AnthropicError",
	plain: "Error",
	x402: "X402Error",
} as const satisfies Record<ErrorForm, string>;

/** Returns a reference to a schema of the document's components. */
export const schemaRef = (name: keyof typeof COMPONENT_SCHEMAS): JsonObject => ({ $ref: `#/components/schemas/${name}` });

const text = { type: "string" };
const number = { type: "number" };
const object = (properties: JsonObject, required: readonly string[], extra: JsonObject = {}): JsonObject => ({
	type: "object",
	properties,
	required,
	...extra,
});
const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });
const listOf = (items: JsonObject): JsonObject => ({ type: "array", items });

const code = { type: "string", description: "Machine code" };
/** The members that describe faults against a request's schema. */
const faults = { details: ref("FieldFaults"), issues: listOf(ref("Issue")) };

const Issue = object(
	{
		path: { type: "array", items: { anyOf: [text, { type: "integer" }] }, description: "Names of members, and indexes in lists" },
		code: text,
		message: text,
		minimum: { type: "number", description: "The bound of `too_small`" },
		maximum: { type: "number", description: "The bound of `too_big`" },
		type: { type: "string", description: "The kind of value that the bound limits: string, array or number" },
		inclusive: { type: "boolean", description: "true: the bound itself is allowed" },
	},
	["path", "code", "message"],
);

const FieldFaults = {
	type: "object",
	description: "The same, nested by field",
	properties: { _errors: listOf(text), reason: { type: "string", description: "Present if a sign-in was refused" } },
	additionalProperties: ref("FieldFaults"),
};

const ErrorObject = object({ error: { type: "string", description: "What is wrong, and what to do" }, code, ...faults }, [
	"error",
	"code",
]);

const OpenAiErrorDetail = object(
	{ message: text, type: text, param: { type: ["string", "null"] }, code: { type: ["string", "null"] } },
	["message", "type", "param", "code"],
);

const OpenAiError = object({ error: ref("OpenAiErrorDetail"), code, ...faults }, ["error", "code"]);

const AnthropicErrorDetail = object({ type: text, message: text, details: object({ error_code: text }, ["error_code"]) }, [
	"type",
	"message",
	"details",
]);

const AnthropicError = object({ type: { const: "error" }, error: ref("AnthropicErrorDetail"), code, ...faults }, [
	"type",
	"error",
	"code",
]);

const X402Error = object(
	{ error: { type: "string", description: "Machine code. On 429 a text" }, message: text, code, ...faults },
	["error"],
);

/** x402, version 2 (network is a CAIP-2 id) and version 1 (network is a name). */
const PaymentRequirements = object(
	{
		scheme: text,
		network: text,
		amount: { type: "string", description: "x402 version 2: in the token's base units" },
		maxAmountRequired: { type: "string", description: "x402 version 1: the same amount" },
		asset: text,
		payTo: text,
		maxTimeoutSeconds: { type: "integer" },
		extra: { type: "object", additionalProperties: true },
		resource: { type: "string", description: "x402 version 1" },
		description: { type: "string", description: "x402 version 1" },
		mimeType: { type: "string", description: "x402 version 1" },
	},
	["scheme", "network", "asset", "payTo", "maxTimeoutSeconds"],
);

/**
 * Body of a 402. Without a credential it offers payment and sign-in; to a wallet it reports the balance and how to top
 * up.
 */
const PaymentRequired = object(
	{
		x402Version: { type: "integer" },
		error: text,
		resource: object({ url: text, description: text, mimeType: text }, ["url"]),
		accepts: listOf(ref("PaymentRequirements")),
		extensions: { type: "object", additionalProperties: true },
		authOptions: { type: "object", additionalProperties: true },
		code: text,
		reason: text,
		message: text,
		description: text,
		currentBalanceUsd: number,
		minimumBalanceUsd: number,
		suggestedTopUpUsd: number,
		minimumTopUpUsd: number,
		supportedTokens: listOf(text),
		supportedChains: listOf(text),
		topUpInstructions: { type: "object", additionalProperties: true },
		siwxChallenge: { type: "object", additionalProperties: true },
	},
	[],
);

/** The components of the document. */
export const COMPONENT_SCHEMAS = {
	Error: ErrorObject,
	OpenAiError,
	OpenAiErrorDetail,
	AnthropicError,
	AnthropicErrorDetail,
	X402Error,
	Issue,
	FieldFaults,
	PaymentRequired,
	PaymentRequirements,
} as const;
