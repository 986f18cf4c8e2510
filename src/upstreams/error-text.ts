/** Reads the error of a server, in the shapes that servers use, and the part that a caller may read. */

import { isRecord } from "../schema/is-record.ts";
import { baseRespError } from "./inside-status.ts";

export interface UpstreamErrorText {
	readonly message: string;
	readonly code: string;
	readonly type: string;
	readonly param: string | undefined;
	/** A status inside the body. */
	readonly status: number | undefined;
}

/** Maximum length read of a server's text: its meaning is at the beginning. */
const MAX_READ_CHARS = 8_192;
/** Maximum length of its codes, and of the field that it names. */
const MAX_NAME_CHARS = 256;
const MAX_CALLER_CHARS = 2_000;
/** Maximum nesting: gateways wrap the error of the server behind them. */
const MAX_NESTED = 4;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads `{error: {message, code, type, param}}`, `{error: "text"}`, `{object: "error", message}`, `{message}`,
 * `{detail}`, `{msg}`, `{error_msg}`, `{base_resp: {status_code, status_msg}}`, and lists of such (`[{error}]`,
 * `{errors: [...]}`). In ElevenLabs' `{detail: {status, message}}` the status is a code in words.
 * If an error contains another, or another as JSON in its text, the innermost one counts.
 */
export function errorTextOf(body: unknown): UpstreamErrorText {
	return textOf(body, 0);
}

function textOf(body: unknown, depth: number): UpstreamErrorText {
	const top = record(firstOf(body));
	const inner = firstOf(top.error) ?? firstOf(top.errors) ?? baseRespError(top.base_resp);
	const detail = record(top.detail);
	const nested = isRecord(inner) ? inner : detail;
	const pick = (key: string) => nested[key] ?? top[key];
	const plain = typeof inner === "string" ? inner : detailText(nested.detail ?? top.detail);
	const message = textsOf(pick("message") ?? pick("msg") ?? pick("error_msg"));
	const [code, type, param] = [pick("code") ?? pick("error_code") ?? detail.status, pick("type"), pick("param")];
	const status = [pick("status"), code, pick("status_code")].map(Number).find((value) => value >= 400 && value <= 599);
	const text = {
		message: beginningOf(typeof message === "string" && message !== "" ? message : plain, MAX_READ_CHARS),
		code: nameOf(code) ?? "",
		type: nameOf(type) ?? "",
		param: nameOf(param),
		status,
	};
	const innermost = depth < MAX_NESTED ? nestedIn(nested, message ?? inner) : null;
	return innermost === null ? text : mergeTexts(text, textOf(innermost, depth + 1));
}

/** Returns the error that caused another: OpenRouter has it under `metadata.raw`. */
function nestedIn(error: Fields, message: unknown): unknown {
	if (isRecord(error.error)) return error;
	const { raw } = record(error.metadata);
	if (isRecord(message)) return message;
	const first = firstOf(error.errors);
	if (message === undefined && isRecord(first)) return { error: first };
	return jsonIn(raw) ?? jsonIn(message);
}

function mergeTexts(outer: UpstreamErrorText, inner: UpstreamErrorText): UpstreamErrorText {
	if (inner.message === "") return outer;
	return {
		message: inner.message,
		code: inner.code || outer.code,
		type: inner.type || outer.type,
		param: inner.param ?? outer.param,
		status: inner.status ?? outer.status,
	};
}

/** Joins a list of texts to one. */
function textsOf(message: unknown): unknown {
	if (!Array.isArray(message)) return message;
	return (message as unknown[])
		.slice(0, 5)
		.filter((text) => typeof text === "string")
		.join("; ");
}

/** Returns the JSON object in a text, if it is one. */
function jsonIn(text: unknown): Fields | null {
	if (typeof text !== "string" || text.length > MAX_READ_CHARS || !text.trimStart().startsWith("{")) return null;
	try {
		const value: unknown = JSON.parse(text);
		return isRecord(value) ? value : null;
	} catch {
		return null;
	}
}

/** Returns the text of FastAPI's `detail`: a text, or a list of {loc, msg}. */
function detailText(detail: unknown): string {
	if (typeof detail === "string") return detail;
	if (!Array.isArray(detail)) return "";
	const parts = detail.slice(0, 5).map((entry) => {
		const { loc, msg } = record(entry);
		const place = Array.isArray(loc) ? loc.filter((part) => part !== "body").join(".") : "";
		return [place, typeof msg === "string" ? msg : ""].filter((part) => part !== "").join(": ");
	});
	return parts.filter((part) => part !== "").join("; ");
}

/**
 * Returns an error body as JSON, else as {message}: the title of an HTML page, the message of XML. `key` is never in
 * it.
 */
export function errorBody(bytes: Uint8Array, key: string | undefined): unknown {
	let text = new TextDecoder().decode(bytes).trim();
	if (key) text = text.replaceAll(key, "[key]");
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === "string" ? { message: value } : value;
	} catch {
		if (text.startsWith("<")) return titleOf(text);
		return text === "" ? {} : { message: text };
	}
}

function titleOf(page: string): unknown {
	const title =
		/<message>([^<>]{1,300})<\/message>/i.exec(page)?.[1] ??
		/<title[^<>]{0,200}>([^<>]{1,300})</i.exec(page)?.[1] ??
		/<h1[^<>]{0,200}>([^<>]{1,300})</i.exec(page)?.[1];
	return title === undefined ? {} : { message: title.replaceAll(/\s+/g, " ").trim() };
}

/**
 * Matches the names of exceptions before a message, several in a row: `litellm.BadRequestError: OpenAIException - ...`.
 */
const EXCEPTIONS = /^(?:(?:[a-z_]\w{0,60}\.){0,6}[A-Z]\w{0,60}(?:Error|Exception)(?:\s*[:-]+\s*|$)){1,5}/;
/** Matches names of libraries that no prompt contains by chance. */
const LIBRARIES =
	/\b(?:litellm|vllm|sglang|xgrammar|llguidance|lm-format-enforcer|llama[._]cpp|llama-server|exllamav2|tensorrt[-_]llm|pydantic|fastapi|uvicorn)(?:\.\w+)*\b/gi;
/** Addresses of registries and of the libraries' own pages. */
const REGISTRIES =
	/(?:https?:\/\/)?\b(?:registry\.ollama\.ai|hf\.co|huggingface\.co|docker\.io|ghcr\.io|quay\.io|nvcr\.io|errors\.pydantic\.dev|docs\.litellm\.ai)(?:\/[^\s"'`,;)]*)?/gi;
/** Matches paths of a server's files. A path of a JSON schema begins differently. */
const FILES = /(?<![\w/.:])\/(?:home|root|usr|opt|var|tmp|mnt|srv|etc|workspace|Users|app)\/[^\s"'`,;:)]*/g;

/** Matches one fault of FastAPI's validation, written as Python writes it, in the text of an error. */
const VALIDATION_FAULT = /'loc': \(([^()]{0,300})\), 'msg': (?:"([^"]{1,300})"|'([^']{1,300})')/g;

/** Returns FastAPI's faults of a request as `field: what is wrong`; other texts unchanged. */
function validationText(message: string): string {
	if (!/^\d+ validation errors?:/.test(message)) return message;
	const faults = [...message.matchAll(VALIDATION_FAULT)].slice(0, 5).map(([, loc = "", double, single]) => {
		const place = [...loc.matchAll(/'([^']*)'|\d+/g)].map(([item, name]) => name ?? item).filter((name) => name !== "body");
		return `${place.join(".")}: ${double ?? single}`;
	});
	return faults.length === 0 ? message : faults.join("; ");
}

/** Returns the part of a server's text that a caller may read, without its software and file paths. */
export function callerText(message: string): string {
	const cleaned = validationText(beginningOf(message, MAX_READ_CHARS))
		.replace(EXCEPTIONS, "")
		.replaceAll(/\s*For (?:further|more) information(?:,)? (?:visit|see) https?:\/\/\S+/gi, "")
		.replaceAll(REGISTRIES, "[address]")
		.replaceAll(FILES, "[file]")
		.replaceAll(LIBRARIES, "the backend")
		.trim();
	return beginningOf(cleaned, MAX_CALLER_CHARS);
}

function nameOf(value: unknown): string | undefined {
	return typeof value === "string" ? beginningOf(value, MAX_NAME_CHARS) : undefined;
}

/** Cuts a text to `most` characters between words, since part of a secret would not be masked. */
function beginningOf(text: string, most: number): string {
	return text.length <= most ? text : text.slice(0, most).replace(/\S{1,512}$/, "");
}

/** Returns the first of a list, else the value. */
function firstOf(value: unknown): unknown {
	return Array.isArray(value) ? (value as unknown[])[0] : value;
}

function record(value: unknown): Fields {
	return isRecord(value) ? value : {};
}
