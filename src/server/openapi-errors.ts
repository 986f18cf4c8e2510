/** Describes the error answers of an endpoint in the API document: its codes by status, in the form of its route. */
import { ERROR_TABLE, type ErrorCode } from "../errors/index.ts";
import type { Endpoint } from "./endpoint.ts";
import { errorForm, errorStatus } from "./error-body.ts";
import { ERROR_SCHEMAS, schemaRef } from "./openapi-schemas.ts";

type JsonObject = Record<string, unknown>;

/** The header that every answer has. */
export const REQUEST_ID = { "X-Request-ID": { schema: { type: "string", minLength: 32, maxLength: 32 } } };
const OFFER = schemaRef("PaymentRequired");
const PAYMENT_REQUIRED = {
	"PAYMENT-REQUIRED": { description: "x402 version 2, base64 of JSON", schema: { type: "string" } },
};

const BY_KEY: readonly ErrorCode[] = ["AUTHENTICATION_FAILED", "UNAUTHORIZED", "API_ACCESS_DISABLED"];
const BY_WALLET: readonly ErrorCode[] = ["X402_INVALID_SIGN_IN"];
/** Errors of a wallet that pays. The body says how to pay, and the wallet may pay with the request itself. */
const BY_PAYMENT: readonly ErrorCode[] = [
	"PAYMENT_REQUIRED",
	"X402_INVALID_PAYMENT",
	"PAYMENT_VERIFICATION_FAILED",
	"X402_SETTLEMENT_PENDING",
	"X402_FACILITATOR_UNAVAILABLE",
];
const BY_BODY: readonly ErrorCode[] = ["REQUEST_TIMEOUT_UPLOAD", "PAYLOAD_TOO_LARGE", "INVALID_CONTENT_TYPE"];
/** Errors of callers that cannot pay. */
const BY_MONEY: readonly ErrorCode[] = [
	"INSUFFICIENT_BALANCE",
	"API_KEY_USD_SPEND_LIMIT_EXCEEDED",
	"API_KEY_DIEM_SPEND_LIMIT_EXCEEDED",
];
/** Errors of the metered pipeline: the model and the work. */
const BY_METERED: readonly ErrorCode[] = [
	"INVALID_MODEL",
	"MODEL_NOT_FOUND",
	"MODEL_REMOVED",
	"MODEL_OVERLOADED",
	"INFERENCE_FAILED",
	"MODEL_OFFLINE",
	"MODEL_AT_CAPACITY",
	"REQUEST_TIMEOUT",
];
/** The code of a status in declarations that name a status only. */
const BY_STATUS: Readonly<Record<number, ErrorCode>> = { 404: "NOT_FOUND", 504: "REQUEST_TIMEOUT" };

/** Returns the errors that an endpoint can answer, from its declaration. */
function errorCodes(endpoint: Endpoint): Set<ErrorCode> {
	// 400: a query parameter that the route does not have.
	const always: readonly ErrorCode[] = ["INVALID_REQUEST", "RATE_LIMIT_EXCEEDED", "UNKNOWN_ERROR", "SERVICE_UNAVAILABLE"];
	const codes = new Set<ErrorCode>([...always, ...(endpoint.codes ?? [])]);
	const add = (added: readonly ErrorCode[]) => {
		for (const code of added) codes.add(code);
	};
	if (!endpoint.callers.includes("none")) add(BY_KEY);
	if (endpoint.callers.includes("wallet")) add(BY_WALLET);
	if (endpoint.callers.includes("wallet") && endpoint.kind === "metered") add(BY_PAYMENT);
	if (endpoint.body) add(BY_BODY);
	if (endpoint.idempotencyKey) add(["IDEMPOTENCY_KEY_INVALID", "IDEMPOTENCY_KEY_REUSED"]);
	else if (endpoint.kind === "metered") add(["IDEMPOTENCY_KEY_INVALID"]);
	const isPaid = endpoint.kind === "metered" || endpoint.mayBeFree !== undefined;
	if (isPaid) add(BY_MONEY);
	if (isPaid && endpoint.callers.includes("wallet")) add(["PAYMENT_REQUIRED"]);
	if (endpoint.kind === "metered") add(BY_METERED);
	const has404 = [...codes].some((code) => ERROR_TABLE[code][0] === 404);
	const statuses = [...(endpoint.errors ?? []), ...(endpoint.path.includes(":") && !has404 ? [404] : [])];
	add(statuses.flatMap((status) => BY_STATUS[status] ?? []));
	return codes;
}

/** Returns the error responses by status. */
export function errorResponses(endpoint: Endpoint): JsonObject {
	const form = errorForm(endpoint);
	const schema = schemaRef(ERROR_SCHEMAS[form]);
	const byStatus = new Map<number, ErrorCode[]>();
	for (const code of errorCodes(endpoint)) {
		const status = errorStatus(code, form);
		byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
	}
	const responses: JsonObject = {};
	for (const [status, codes] of [...byStatus].sort(([a], [b]) => a - b)) {
		responses[String(status)] = {
			description: codes.map((code) => code.replace("REQUEST_TIMEOUT_UPLOAD", "REQUEST_TIMEOUT")).join(", "),
			headers: { ...REQUEST_ID, ...(codes.includes("PAYMENT_REQUIRED") ? PAYMENT_REQUIRED : {}) },
			content: { "application/json": { schema: codes.includes("PAYMENT_REQUIRED") ? { anyOf: [OFFER, schema] } : schema } },
		};
	}
	return responses;
}
