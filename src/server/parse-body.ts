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

/** Returns true for a content type that is JSON. */
export function isJson(contentType: string | null): boolean {
	const essence = essenceOf(contentType);
	return essence === "application/json" || (essence.startsWith("application/") && essence.endsWith("+json"));
}

/**
 * Refuses a body that is not declared to be JSON.
 * @param others further media types that count as JSON on the route
 * @throws ApiError INVALID_CONTENT_TYPE (415)
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
				: `Content-Type ${essence.slice(0, 100)} is not accepted here; send application/json`,
	});
}

/**
 * Refuses a charset other than UTF-8. JSON is UTF-8 (RFC 8259, 8.1), and its media type has no charset, but many
 * clients name it.
 */
function requireUtf8(contentType: string): void {
	const charset = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(contentType)?.[1];
	if (charset === undefined || /^(utf-?8|us-ascii|ascii)$/i.test(charset)) return;
	throw new ApiError("INVALID_CONTENT_TYPE", {
		message: `JSON in charset ${charset.slice(0, 100)} is not accepted here; send it as UTF-8`,
	});
}

/** Smaller bodies are parsed at once: their content cannot make that slow. */
const SMALL_BODY_BYTES = 32_768;

/**
 * Returns the body for parsing: a large one as a copy with its long strings cut.
 * @throws ApiError 400 if parsing would take too long
 */
export function parseable(raw: Uint8Array): CutJson | Promise<CutJson> {
	return raw.length > SMALL_BODY_BYTES ? inTurns(cutJson(raw, BODY_BOUNDS)) : { json: raw, cuts: [] };
}

/** Maximum number of top-level keys of a body; the largest schema has some forty. */
const MAX_TOP_LEVEL_KEYS = 1_000;

/** Returns the body without a byte order mark: JSON has none (RFC 8259, 8.1), and not every server accepts one. */
export function withoutByteOrderMark(raw: Uint8Array): Uint8Array {
	return raw[0] === 0xef && raw[1] === 0xbb && raw[2] === 0xbf ? raw.subarray(3) : raw;
}

/**
 * Parses bytes to a JSON object; a large one is parsed in turns of the event loop.
 * @throws ApiError INVALID_REQUEST with the fault and its place: invalid UTF-8, malformed JSON, not an object
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

/** Removes null top-level fields and null options of ours before the schema checks: they mean absent (docs/chat.md). */
export function withoutNulls(body: Record<string, unknown>, required: ReadonlySet<string>): Record<string, unknown> {
	for (const key in body) if (body[key] === null && !required.has(key)) delete body[key];
	const options = body.service_parameters;
	if (isRecord(options)) for (const key in options) if (options[key] === null) delete options[key];
	return body;
}

/**
 * Checks the body against the schema.
 * @param misnamed wrong names that callers use for a field, each with the right one
 * @throws ApiError 400 that names every field at fault
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
 * Refuses a `modelId` that differs from `model` on routes without that field. A `modelId` equal to `model` is removed.
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

/** Returns a text as the schema's type requires it: a number, a boolean, or the text itself if it is neither. */
export function readScalar(text: string, type: unknown): unknown {
	if (type === "integer") return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
	// Programs write small and large numbers with an exponent.
	if (type === "number") return /^-?\d+(\.\d+)?(e[+-]?\d{1,3})?$/i.test(text) ? Number(text) : text;
	if (type === "boolean") return text === "true" ? true : text === "false" ? false : text;
	return text;
}
