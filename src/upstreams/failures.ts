import { ApiError, ERROR_TABLE, type ErrorCode } from "../errors/index.ts";
import { isRecord } from "../schema/is-record.ts";
import { contentRefusal, isContentRefusal } from "./content-policy.ts";
import type { UpstreamErrorText } from "./error-text.ts";
import { callerText, errorTextOf } from "./error-text.ts";
import { baseRespError, insideStatus, saysRequest } from "./inside-status.ts";
import type { SecretMask } from "./secret-mask.ts";

/**
 * The kinds of failures at an upstream (docs/chat.md).
 * `request`: the caller's request is at fault. `unable`: this server does not support it, another may.
 * `account`: the upstream refuses our account. `offline`: it is unreachable or has no such model. `busy`: status 429.
 * `full`: our own limit of concurrent calls. `broken`: the answer is no chat completion. `timeout`: silence.
 * `given`: an error of the embedded engine that is ours already.
 */
export type FailureKind = "request" | "unable" | "account" | "offline" | "busy" | "full" | "broken" | "timeout" | "given";

/** Statuses that refuse the caller's request. */
const REFUSALS: ReadonlySet<number> = new Set([400, 413, 422]);

export class UpstreamFailure extends Error {
	override readonly name = "UpstreamFailure";
	readonly kind: FailureKind;
	/** The error for the caller where no other upstream succeeds. */
	readonly answer: ApiError;
	/** HTTP status of the upstream, if any. */
	readonly status: number | undefined;
	/** Seconds that a busy upstream requested. */
	readonly retryAfterSeconds: number | undefined;
	/** The words that classified it as a fault of our account or model name, if only words did. */
	words: string | undefined;

	constructor(kind: FailureKind, answer: ApiError, detail: string, status?: number, retryAfterSeconds?: number) {
		super(detail);
		this.kind = kind;
		this.answer = answer;
		this.status = status;
		this.retryAfterSeconds = retryAfterSeconds;
	}

	/** True for a fault of the caller's request. Every upstream would refuse it, so no other one is tried. */
	get final(): boolean {
		return this.kind === "request";
	}

	/**
	 * True if it counts towards ejecting the upstream. A missing model or a refused prompt (some servers answer 403
	 * for one) does not concern its health, and the words of a refusal may be the caller's.
	 */
	get isFault(): boolean {
		switch (this.kind) {
			case "broken":
			case "timeout":
				return true;
			case "offline":
				return this.status === undefined;
			case "account":
				// 402 does not count: a larger request may be refused while smaller ones are still paid for.
				return this.refusesAccount && this.status !== 402;
			default:
				return false;
		}
	}

	/** True if the operator must act on our account with the upstream: no request can be at fault. */
	get refusesAccount(): boolean {
		return this.kind === "account" && this.status !== 403 && !REFUSALS.has(this.status ?? 0);
	}
}

const DEFAULT_RETRY_SECONDS = 5;
const MAX_RETRY_SECONDS = 300;

/**
 * Matches the messages of servers for a prompt that does not fit: OpenAI, vLLM, llama.cpp, LM Studio, Ollama,
 * Anthropic.
 */
const OVERFLOW = [
	/maximum context length/i,
	/context[_ ](?:length|size|window)[_ ]?(?:is )?exceed/i,
	/exceed(?:s|ed)? (?:the |this model'?s? |its )?(?:available |maximum |model'?s? )?(?:context|number of tokens)/i,
	/(?:longer|greater|larger|more tokens) than (?:the )?(?:model'?s? )?(?:maximum )?(?:model length|context)/i,
	/context the overflows|prompt is too long|input is too long|too many tokens|max_model_len/i,
	/input \(\d+ tokens\) is too large to process/i,
];
const OVERFLOW_CODES = new Set(["context_length_exceeded", "exceed_context_size_error", "model_context_window_exceeded"]);

/** Codes about our own account with the upstream: money, quota, keys. Only the operator may see them. */
const ACCOUNT_CODES = new Set([
	"insufficient_quota",
	"insufficient_balance",
	"insufficient_credits",
	"quota_exceeded",
	"voice_limit_reached",
	"billing_hard_limit_reached",
	"billing_not_active",
	"account_deactivated",
	"access_terminated",
	"invalid_api_key",
	"authentication_error",
	"permission_error",
]);
const ACCOUNT_WORDS = new RegExp(
	[
		"exceeded your current quota",
		"quota (?:has been )?exceeded",
		"credit balance",
		"insufficient (?:balance|credits?|funds|quota)",
		"billing (?:hard limit|details|is not active|not active|issue)",
		"(?:incorrect|invalid|missing|expired|no) api[ _-]?key",
		"api[ _-]?key (?:is )?(?:not valid|invalid|expired|not found|missing)",
		"account (?:is |has been )?(?:deactivated|suspended|not active)",
	].join("|"),
	"i",
);

const MODEL_MISSING_CODES = new Set(["model_not_found", "model_not_available"]);
/** Matches messages about an unknown model: its name comes from our configuration, not from the caller. */
const MODEL_MISSING_WORDS = new RegExp(
	[
		"(?:invalid|unknown|unrecognized|no such) model(?: name| id)?\\b",
		"not a valid model(?: name| id)?\\b",
		"model [\\w./:@'\"`-]{1,200} (?:(?:was|is) )?(?:does not exist|not found|not available|not loaded)",
		"model not (?:found|loaded|exist)",
	].join("|"),
	"i",
);

/** Error types about the request, if the status does not show that. */
const REFUSAL_TYPES = new Set(["invalid_request_error", "BadRequestError", "invalid_request", "validation_error"]);
/**
 * Matches messages of servers that answer 5xx to unsupported features: formats of answers, fields that they do not
 * know.
 */
const UNABLE_WORDS = new RegExp(
	[
		"\\bgrammar\\b|json[ _]?schema|response[_ ]format|guided[_ ](?:json|grammar|decoding)|structured[_ ]outputs?",
		"roles must alternate|system role|chat template|\\bjinja\\b|cannot use (?:tools|both|custom)",
		"unexpected keyword argument|extra (?:inputs|fields) (?:are )?not permitted",
		"(?:unknown|unsupported|unrecognized) (?:field|parameter|argument|schema|value|option)",
		"(?:is|are) not supported|does not support|not implemented",
		"^\\d+ validation errors?:",
	].join("|"),
	"i",
);
/** Matches messages of servers that are loading the model, or are overloaded. */
const LOADING_WORDS =
	/\b(?:load|fetch|download|warm|initiali[sz]|start)(?:ing|ed)?\b|not (?:yet )?ready|overloaded|at capacity|server (?:is )?busy|try again (?:later|in)|pending requests/i;

/** Returns true if a body of status 200, or an event of a stream, is an error. */
export function isErrorBody(body: Readonly<Record<string, unknown>>): boolean {
	const { error, object, type, choices } = body;
	if ((error !== undefined && error !== null && error !== false && error !== "") || object === "error" || type === "error")
		return true;
	if (baseRespError(body.base_resp) !== undefined) return true;
	if (body.success === false && !(Array.isArray(choices) && choices.length > 0)) return true;
	if (choices !== undefined || typeof object === "string") return false;
	const texts = [body.message, body.msg, body.error_msg, body.detail];
	const list = body.detail ?? body.errors;
	// Cloudflare puts an empty `errors` beside each `result`.
	return texts.some((text) => typeof text === "string") || (Array.isArray(list) && (list.length > 0 || body.success !== true));
}

/** Returns true if any JSON is an error: Google sends errors as a list of one. */
export function isErrorAnswer(value: unknown): boolean {
	const first: unknown = Array.isArray(value) ? value[0] : value;
	return isRecord(first) && isErrorBody(first);
}

/** Anthropic's status for "overloaded", which requests a pause as 429 does. */
const OVERLOADED = 529;

/** Returns the failure of an answer with a status other than 2xx, or of an error inside a 200 (`status` 200). */
export function failureOfAnswer(status: number, body: unknown, retryAfterHeader: string | null): UpstreamFailure {
	const text = errorTextOf(body);
	const isInside = status >= 200 && status < 300;
	const stated = isInside ? effectiveStatus(text) : status;
	const effective = stated === OVERLOADED ? 429 : stated;
	const delay = retryDelayOf(body);
	const retryAfter = retryAfterHeader ?? delay;
	// Error texts may quote the prompt, so only codes are logged.
	const detail = [`status ${status}`, text.code || text.type].filter(Boolean).join(", ").slice(0, 200);
	if (effective >= 300 && effective < 400) return brokenAnswer(`status ${status}: a redirect`, status);
	if (isContentRefusal(effective, text, body)) {
		return new UpstreamFailure("request", contentRefusal(messageForCaller(text)), detail, effective);
	}
	// Gemini says "exceeded your current quota" of the quota of a minute, too.
	if (effective === 429 && delay !== null) return busy(detail, retryAfterSeconds(retryAfter), effective);
	if (isAccount(effective, text)) {
		const failure = account(detail, effective);
		if (REFUSALS.has(effective)) failure.words = ACCOUNT_WORDS.exec(text.message)?.[0];
		return failure;
	}
	if (isOverflow(effective, text)) {
		return new UpstreamFailure("request", overflow(text), detail, effective);
	}
	if (isModelMissing(effective, text)) return modelMissing(text, detail, effective);
	if (isUnable(effective, text) || (isInside && effective === 500 && saysRequest(text)))
		return new UpstreamFailure("unable", refusal(text), detail, effective);
	if (effective === 503 && (retryAfter !== null || LOADING_WORDS.test(text.message)))
		return loading(detail, retryAfterSeconds(retryAfter));
	switch (effective) {
		case 400:
		case 413:
		case 422:
			return new UpstreamFailure("request", refusal(text), detail, effective);
		case 404:
		case 410:
			return upstreamOffline(detail, effective);
		case 408:
			return upstreamTimedOut(detail, effective);
		case 429:
			return busy(detail, retryAfterSeconds(retryAfter), effective);
		default:
			return brokenAnswer(detail, effective);
	}
}

/** Returns the delay in seconds of Google's RetryInfo (google.rpc.RetryInfo in `error.details`); null without one. */
function retryDelayOf(body: unknown): string | null {
	const first: unknown = Array.isArray(body) ? body[0] : body;
	const details = isRecord(first) && isRecord(first.error) && Array.isArray(first.error.details) ? first.error.details : [];
	const delay = details.filter(isRecord).find(({ retryDelay }) => typeof retryDelay === "string")?.retryDelay;
	return typeof delay === "string" ? delay.replace(/s$/, "") : null;
}

/** Returns the status to act on. Words about our account are read as a refusal's: they may quote the caller. */
function effectiveStatus(text: UpstreamErrorText): number {
	const status = insideStatus(text);
	return status === 500 && text.status === undefined && ACCOUNT_WORDS.test(text.message) ? 400 : status;
}

/** Returns the failure of a connection without an answer: it broke, or could not be opened. */
export function failureOfConnection(error: unknown): UpstreamFailure {
	// Only the code is used: a text may quote a header, and with it our key.
	const { code, name } = (error ?? {}) as { readonly code?: unknown; readonly name?: unknown };
	const detail = String(code ?? name ?? "no connection").slice(0, 100);
	return /RESET|EPIPE|Closed|Malformed|Invalid|HPE|Decompress|Zlib|Brotli/i.test(detail)
		? brokenAnswer(detail)
		: upstreamOffline(detail);
}

export function brokenAnswer(detail: string, status?: number): UpstreamFailure {
	return new UpstreamFailure("broken", new ApiError("INFERENCE_FAILED"), detail, status);
}

export function upstreamOffline(detail: string, status?: number): UpstreamFailure {
	const answer = new ApiError("MODEL_OFFLINE", { message: "This model's backend cannot be reached now; try again later" });
	return new UpstreamFailure("offline", answer, detail, status);
}

export function upstreamTimedOut(detail: string, status?: number): UpstreamFailure {
	return new UpstreamFailure("timeout", new ApiError("REQUEST_TIMEOUT"), detail, status);
}

export function upstreamAtCapacity(detail: string): UpstreamFailure {
	return new UpstreamFailure("full", new ApiError("MODEL_AT_CAPACITY", { retryAfterSeconds: 1 }), detail);
}

/** Wraps an error of the table from the embedded engine, or from our own shaping of the request, unchanged. */
export function failureOfOwnError(error: ApiError): UpstreamFailure {
	const isRequest = error.status === 400 || error.status === 413 || error.status === 422;
	return new UpstreamFailure(isRequest ? "request" : "given", error, error.code);
}

/** Returns the embedded engine's error, which has our own codes; undefined for anything else. */
export function ownErrorOf(status: number, body: unknown, retryAfter: string | null): ApiError | undefined {
	const top = isRecord(body) ? body : {};
	const code = top.code ?? (isRecord(top.error) ? top.error.code : undefined);
	if (typeof code !== "string" || !Object.hasOwn(ERROR_TABLE, code) || ERROR_TABLE[code as ErrorCode][0] !== status)
		return undefined;
	const { message, param, code: clientCode } = errorTextOf(body);
	return new ApiError(code as ErrorCode, {
		...(message ? { message } : {}),
		...(param ? { param } : {}),
		...(clientCode && clientCode !== code ? { openAiCode: clientCode } : {}),
		...(retryAfter ? { retryAfterSeconds: retryAfterSeconds(retryAfter) } : {}),
	});
}

function account(detail: string, status: number): UpstreamFailure {
	const answer = new ApiError("MODEL_OFFLINE", { message: "This model is offline; the operator has been notified" });
	return new UpstreamFailure("account", answer, detail, status);
}

/** Returns the failure of an unknown model: the operator's matter, unless the caller's own words say it. */
function modelMissing(text: UpstreamErrorText, detail: string, status: number): UpstreamFailure {
	const failure = upstreamOffline(detail, status);
	if (REFUSALS.has(status) && !MODEL_MISSING_CODES.has(text.code)) failure.words = MODEL_MISSING_WORDS.exec(text.message)?.[0];
	return failure;
}

function isModelMissing(status: number, text: UpstreamErrorText): boolean {
	if (MODEL_MISSING_CODES.has(text.code)) return true;
	return status !== 429 && MODEL_MISSING_WORDS.test(text.message);
}

/** Returns true for an unsupported feature, shown by the message, by the error inside, or by 501. */
function isUnable(status: number, text: UpstreamErrorText): boolean {
	if (status < 500) return false;
	if (status === 501 || REFUSALS.has(text.status ?? 0) || REFUSAL_TYPES.has(text.type)) return true;
	return UNABLE_WORDS.test(text.message);
}

/** Returns the failure of a server that is loading and will accept work later. */
function loading(detail: string, seconds: number): UpstreamFailure {
	const message = "The model's backend is not ready yet; try again as Retry-After says";
	return new UpstreamFailure(
		"busy",
		new ApiError("MODEL_AT_CAPACITY", { message, retryAfterSeconds: seconds }),
		detail,
		503,
		seconds,
	);
}

function busy(detail: string, seconds: number, status: number): UpstreamFailure {
	return new UpstreamFailure("busy", new ApiError("MODEL_OVERLOADED", { retryAfterSeconds: seconds }), detail, status, seconds);
}

function isAccount(status: number, text: UpstreamErrorText): boolean {
	if (status === 401 || status === 402 || status === 403) return true;
	if (ACCOUNT_CODES.has(text.code) || ACCOUNT_CODES.has(text.type)) return true;
	return status >= 400 && status < 500 && ACCOUNT_WORDS.test(text.message);
}

/** Returns a refusal of the request where a message about our account or model name only quotes that request. */
export function unlessQuoted(failure: UpstreamFailure, request: Uint8Array): UpstreamFailure {
	if (failure.words === undefined) return failure;
	const text = Buffer.from(request.buffer, request.byteOffset, request.byteLength);
	if (!text.includes(failure.words)) return failure;
	const nothing = { message: "", code: "", type: "", param: undefined, status: failure.status };
	return new UpstreamFailure("request", refusal(nothing), failure.message, failure.status);
}

/** Returns true if the context overflows. "Too many tokens" of a 429 is about a rate. */
function isOverflow(status: number, text: UpstreamErrorText): boolean {
	if (OVERFLOW_CODES.has(text.code) || OVERFLOW_CODES.has(text.type)) return true;
	return status !== 429 && OVERFLOW.some((pattern) => pattern.test(text.message));
}

function overflow(text: UpstreamErrorText): ApiError {
	return new ApiError("TOO_MANY_TOKENS", {
		...(text.message ? { message: callerText(text.message) } : {}),
		param: "messages",
		openAiCode: "context_length_exceeded",
	});
}

/** Returns the message for the caller; empty if it is, or seems, about our account. */
function messageForCaller({ message }: UpstreamErrorText): string {
	return ACCOUNT_WORDS.test(message) ? "" : callerText(message);
}

/** Returns a refusal with the upstream's message for the caller. */
function refusal(text: UpstreamErrorText): ApiError {
	return new ApiError("INVALID_REQUEST", {
		message: messageForCaller(text) || "The model's backend refused this request; check its parameters",
		...(text.param ? { param: text.param } : {}),
	});
}

/** Returns Retry-After in seconds, from seconds or a date; bounded, since it goes to our callers. */
export function retryAfterSeconds(header: string | null, nowMs: number = Date.now()): number {
	if (header === null) return DEFAULT_RETRY_SECONDS;
	const seconds = /^\s*\d+(\.\d+)?\s*$/.test(header) ? Number(header) : (Date.parse(header) - nowMs) / 1000;
	if (!Number.isFinite(seconds)) return DEFAULT_RETRY_SECONDS;
	return Math.min(Math.max(Math.ceil(seconds), 1), MAX_RETRY_SECONDS);
}

/** Returns the failure without the operator's secrets, which an upstream may quote. */
export function withoutSecrets(failure: UpstreamFailure, mask: SecretMask): UpstreamFailure {
	const { answer } = failure;
	const message = mask.error(answer.message);
	const detail = mask.log(failure.message);
	const param = answer.options.param === undefined ? undefined : mask.error(answer.options.param);
	if (message === answer.message && detail === failure.message && param === answer.options.param) return failure;
	const cleaned = new ApiError(answer.code, { ...answer.options, message, ...(param === undefined ? {} : { param }) });
	const masked = new UpstreamFailure(failure.kind, cleaned, detail, failure.status, failure.retryAfterSeconds);
	masked.words = failure.words;
	return masked;
}

const RANK: Readonly<Record<FailureKind, number>> = {
	request: 8,
	unable: 7,
	given: 6,
	busy: 5,
	full: 4,
	timeout: 3,
	broken: 2,
	offline: 1,
	account: 0,
};

/**
 * Returns the most useful failure for the caller after every upstream failed. A fault that the caller can correct ranks
 * highest, and one that only the operator can resolve ranks lowest. Of equal ranks the later failure wins.
 */
export function mostInformative(failures: readonly UpstreamFailure[]): UpstreamFailure {
	let chosen: UpstreamFailure | undefined;
	for (const failure of failures) if (!chosen || RANK[failure.kind] >= RANK[chosen.kind]) chosen = failure;
	return chosen ?? upstreamOffline("no upstream serves this model");
}
