import { isUtf8 } from "node:buffer";
import type { TSchema } from "typebox";
import { ApiError, type Issue } from "../errors/index.ts";
import { type Checker, invalidField, invalidRequest } from "../schema/index.ts";
import { isRecord } from "../schema/is-record.ts";
import { BODY_BOUNDS, type CutJson, cutJson, inTurns, parseInSteps, skipWhitespace } from "../wire/index.ts";

const decoder = new TextDecoder();

function essenceOf(contentType: string | null): string {
	return (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
}

/** True where a body is declared to be JSON. */
export function isJson(contentType: string | null): boolean {
	const essence = essenceOf(contentType);
	return essence === "application/json" || (essence.startsWith("application/") && essence.endsWith("+json"));
}

/**
 * 415 unless the body is declared to be JSON.
 * @param others further media types that the route takes for JSON
 */
export function requireJson(contentType: string | null, others: readonly string[] = []): void {
	const essence = essenceOf(contentType);
	if (isJson(contentType) || others.includes(essence)) {
		requireUtf8(contentType ?? "");
		return;
	}
	throw new ApiError("INVALID_CONTENT_TYPE", {
		message:
			essence === ""
				? "Send Content-Type: application/json"
				: `Content-Type ${essence.slice(0, 100)} is not taken here; send application/json`,
	});
}

/** JSON is UTF-8 (RFC 8259, 8.1), and its media type has no charset; many clients name the one that it is. */
function requireUtf8(contentType: string): void {
	const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1];
	if (charset === undefined || /^(utf-?8|us-ascii|ascii)$/i.test(charset)) return;
	throw new ApiError("INVALID_CONTENT_TYPE", {
		message: `JSON in charset ${charset.slice(0, 100)} is not taken here; send it as UTF-8`,
	});
}

/** Smaller bodies are parsed in no time, whatever is in them. */
const SMALL_BODY_BYTES = 32_768;

/** A body for parsing: itself, or of a large one a copy with its long strings cut. Throws 400 where parsing it would take long. */
export function parseable(raw: Uint8Array): CutJson | Promise<CutJson> {
	return raw.length > SMALL_BODY_BYTES ? inTurns(cutJson(raw, BODY_BOUNDS)) : { json: raw, cuts: [] };
}

/** Top-level keys that a body may have; the largest schema has some forty. */
const MAX_TOP_LEVEL_KEYS = 1_000;

/** A body without a byte order mark: JSON has none (RFC 8259, 8.1), and not every server takes one. */
export function withoutByteOrderMark(raw: Uint8Array): Uint8Array {
	return raw[0] === 0xef && raw[1] === 0xbb && raw[2] === 0xbf ? raw.subarray(3) : raw;
}

/**
 * Bytes to a JSON object; those of a large one take turns of the event loop.
 * @throws ApiError INVALID_REQUEST with what is wrong and where: invalid UTF-8, malformed JSON, not an object
 */
export function parseJsonObject(raw: Uint8Array): Record<string, unknown> | Promise<Record<string, unknown>> {
	if (!isUtf8(raw)) throw new ApiError("INVALID_REQUEST", { message: "The body is not valid UTF-8" });
	if (raw.length > SMALL_BODY_BYTES)
		return inTurns(parseInSteps(raw)).then(objectOf, (cause: unknown) => throwNotJson(raw, cause));
	let value: unknown;
	try {
		value = JSON.parse(decoder.decode(raw));
	} catch (cause) {
		throwNotJson(raw, cause);
	}
	return objectOf(value);
}

function throwNotJson(raw: Uint8Array, cause: unknown): never {
	if (cause instanceof ApiError) throw cause;
	const reason =
		skipWhitespace(raw, 0) >= raw.length ? "it is empty" : (cause as Error).message.replace(/^JSON Parse error: /, "");
	throw new ApiError("INVALID_REQUEST", { message: `The body is not valid JSON: ${reason}` });
}

function objectOf(value: unknown): Record<string, unknown> {
	if (!isRecord(value)) throw new ApiError("INVALID_REQUEST", { message: "The body must be a JSON object" });
	let keys = 0;
	for (const _ in value)
		if (++keys > MAX_TOP_LEVEL_KEYS)
			throw new ApiError("INVALID_REQUEST", { message: `The body has more than ${MAX_TOP_LEVEL_KEYS} top-level keys` });
	return value;
}

/** Null of a top-level field, or of an option of ours, is the same as absent: taken out before the schema checks (docs/chat.md). */
export function withoutNulls(body: Record<string, unknown>, required: ReadonlySet<string>): Record<string, unknown> {
	for (const key in body) if (body[key] === null && !required.has(key)) delete body[key];
	const options = body.service_parameters;
	if (isRecord(options)) for (const key in options) if (options[key] === null) delete options[key];
	return body;
}

/**
 * Checks against the schema; throws the 400 that names every field at fault.
 * @param misnamed names that callers mistake for a field's, each with the right one
 */
export function checkInput<T extends TSchema>(
	input: Checker<T>,
	value: unknown,
	misnamed: Readonly<Record<string, string>> = {},
): void {
	if (input.check(value)) return;
	throw invalidRequest(input.issues(value).map((issue) => withRightName(issue, misnamed)));
}

/**
 * `modelId` is the name of a model where a route has that field. Elsewhere it is never passed over: beside the same
 * `model` it is taken out, else it is refused.
 */
export function refuseOtherModel(body: Record<string, unknown>, fields: Readonly<Record<string, unknown>>): void {
	const { model, modelId } = body;
	if (modelId === undefined || "modelId" in fields || !("model" in fields)) return;
	if (model === undefined) throw invalidField(["modelId"], "is no field here; the field is named 'model'", "unrecognized_key");
	if (model !== modelId) throw invalidField(["modelId"], "must be the same as model; send model alone");
	delete body.modelId;
}

function withRightName(issue: Issue, misnamed: Readonly<Record<string, string>>): Issue {
	const [name, ...deeper] = issue.path;
	if (issue.code !== "unrecognized_key" || typeof name !== "string" || deeper.length > 0) return issue;
	if (!Object.hasOwn(misnamed, name)) return issue;
	return { ...issue, message: `${issue.message}; the field is named '${misnamed[name]}' here` };
}

/** A text as the schema's type wants it: a number, a boolean, or the text where it is none. */
export function readScalar(text: string, type: unknown): unknown {
	if (type === "integer") return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
	// Programs write small and large numbers so.
	if (type === "number") return /^-?\d+(\.\d+)?(e[+-]?\d{1,3})?$/i.test(text) ? Number(text) : text;
	if (type === "boolean") return text === "true" ? true : text === "false" ? false : text;
	return text;
}
