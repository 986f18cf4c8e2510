import { promisify } from "node:util";
import { type BrotliOptions, brotliCompress, brotliCompressSync, constants, gzip, gzipSync } from "node:zlib";
import { formatNano } from "../ledger/nano.ts";
import type { Call } from "./call.ts";
import type { Answer } from "./endpoint.ts";

/** Below this many bytes compression costs more than it saves. */
const MIN_COMPRESSED_BYTES = 1024;

/**
 * Audio is sent with its length, which a stream lacks, since players show it. Its callers have paid for each second.
 */
const LENGTH_TOLD = /^audio\//;

/** Shorter texts are no large answers, however many bytes a character takes. */
const MIN_PACED_CHARACTERS = 1_048_576;
const encoder = new TextEncoder();

/** Media types that are not compressed: they are compressed already, and players need their length. */
const PACKED = /^(?:audio|image|video)\//;

/** Types that browsers never take for anything else: JSON and events. */
const OWN_TYPES = /^(?:application\/json|text\/event-stream)\b/;

const EXPOSED = [
	"X-Request-ID",
	"request-id",
	"Retry-After",
	"Content-Disposition",
	"Link",
	"x-ratelimit-limit-requests",
	"x-ratelimit-remaining-requests",
	"x-ratelimit-reset-requests",
	"x-ratelimit-limit-tokens",
	"x-ratelimit-remaining-tokens",
	"x-ratelimit-reset-tokens",
	"x-ratelimit-type",
	"x-retry-count",
	"x-should-retry",
	"x-service-version",
	"x-service-model-id",
	"x-service-model-name",
	"x-service-model-router",
	"x-service-model-deprecation-warning",
	"x-service-model-deprecation-date",
	"x-service-ignored",
	"x-service-deprecated",
	"x-service-deprecated-replacement",
	"x-service-balance-usd",
	"x-service-balance-diem",
	"X-Balance-Remaining",
	"X-Service-RPC-Credits",
	"X-Service-RPC-Cost-USD",
	"X-RateLimit-Limit",
	"X-RateLimit-Remaining",
	"X-RateLimit-Reset",
	"x-service-is-blurred",
	"x-service-is-content-violation",
	"x-pagination-limit",
	"x-pagination-page",
	"x-pagination-total",
	"x-pagination-total-pages",
	"x-next-cursor",
	"Idempotent-Replayed",
	"PAYMENT-REQUIRED",
	"PAYMENT-RESPONSE",
	"X-PAYMENT-RESPONSE",
].join(", ");

export interface RespondSettings {
	readonly build: string;
	/** Origins that browsers may call from; `*` is all. */
	readonly corsOrigins: readonly string[];
}

/** Returns the headers of docs/api.md that every answer has. */
export function answerHeaders(requestId: string, call: Call | null, settings: RespondSettings): Record<string, string> {
	const headers: Record<string, string> = { "X-Request-ID": requestId, "x-service-version": settings.build };
	if (call === null) return headers;
	if (call.endpoint.anthropic === true) headers["request-id"] = requestId;
	if (call.balanceUsd !== null) headers["x-service-balance-usd"] = formatNano(call.balanceUsd);
	if (call.balanceDiem !== null) headers["x-service-balance-diem"] = formatNano(call.balanceDiem);
	if (call.balanceRemaining !== null) headers["X-Balance-Remaining"] = balanceText(call.balanceRemaining);
	const { rate } = call;
	if (rate !== null) {
		headers["x-ratelimit-limit-requests"] = String(rate.limitRequests);
		headers["x-ratelimit-remaining-requests"] = String(rate.remainingRequests);
		headers["x-ratelimit-reset-requests"] = String(rate.resetAtSeconds);
		headers["x-ratelimit-type"] = "user";
		if (rate.limitTokens !== undefined) {
			headers["x-ratelimit-limit-tokens"] = String(rate.limitTokens);
			headers["x-ratelimit-remaining-tokens"] = String(rate.remainingTokens ?? 0);
			headers["x-ratelimit-reset-tokens"] = String(rate.resetInSeconds);
		}
	}
	Object.assign(headers, call.headers);
	return headers;
}

/** Returns USD with 6 decimals, rounded down. */
function balanceText(nanoUsd: number): string {
	const micro = String(Math.floor(Math.max(0, nanoUsd) / 1_000)).padStart(7, "0");
	return `${micro.slice(0, -6)}.${micro.slice(-6)}`;
}

/** Adds the CORS headers for a browser of an allowed origin; nothing without an Origin header. */
export function addCors(headers: Record<string, string>, request: Request, settings: RespondSettings): void {
	const origin = request.headers.get("origin");
	if (origin === null) return;
	const all = settings.corsOrigins.includes("*");
	if (!all) headers.Vary = headers.Vary ? `${headers.Vary}, Origin` : "Origin";
	if (!all && !settings.corsOrigins.includes(origin)) return;
	headers["Access-Control-Allow-Origin"] = all ? "*" : origin;
	headers["Access-Control-Expose-Headers"] = EXPOSED;
}

/** Returns the answer to a preflight: 204 without a credential. */
export function preflight(request: Request, requestId: string, allow: string, settings: RespondSettings): Response {
	const headers = answerHeaders(requestId, null, settings);
	headers.Allow = allow;
	addCors(headers, request, settings);
	if (headers["Access-Control-Allow-Origin"] !== undefined) {
		headers["Access-Control-Allow-Methods"] = allow;
		const requestedHeaders = request.headers.get("access-control-request-headers");
		if (requestedHeaders !== null) headers["Access-Control-Allow-Headers"] = requestedHeaders;
		headers["Access-Control-Max-Age"] = "600";
	}
	return new Response(null, { status: 204, headers });
}

/** Longer answers are compressed off the event loop. */
const MAX_PACKED_AT_ONCE = 262_144;
/** Longer answers are not compressed: the runtime would first copy them in one turn. */
const MAX_PACKED_BYTES = 33_554_432;
const brotliBeside = promisify(brotliCompress);
const gzipBeside: (body: string | Uint8Array, options: { level: number }) => Promise<Buffer> = promisify(gzip);

/**
 * Compresses a large whole answer for `respond`, in a coding that its caller accepts. Returns null if there is
 * nothing to compress ahead.
 */
export function compressAhead(answer: Answer, request: Request): Promise<Answer> | null {
	const { body } = answer;
	if (body === null || body instanceof ReadableStream || sizeOf(body) <= MAX_PACKED_AT_ONCE) return null;
	const encoding = encodingOf(answer, request);
	if (encoding === null || answer.packed?.has(encoding) === true) return null;
	const packing = encoding === "br" ? brotliBeside(body, brotliOptions(body)) : gzipBeside(body, GZIP_OPTIONS);
	return packing.then((bytes) => {
		const packed = answer.packed ?? new Map<string, Uint8Array>();
		packed.set(encoding, bytes);
		return { ...answer, packed };
	});
}

/** Returns the coding to compress with; null: the answer is not compressed. */
function encodingOf({ body, type, headers }: Answer, request: Request): "br" | "gzip" | null {
	if (body === null || body instanceof ReadableStream) return null;
	const size = sizeOf(body);
	const isPlain =
		size < MIN_COMPRESSED_BYTES || size > MAX_PACKED_BYTES || PACKED.test(type) || headers?.["Content-Encoding"] !== undefined;
	return isPlain ? null : preferredEncoding(request.headers.get("accept-encoding"));
}

function sizeOf(body: string | Uint8Array): number {
	return typeof body === "string" ? body.length : body.byteLength;
}

const GZIP_OPTIONS = { level: 1 };

function brotliOptions(body: string | Uint8Array): BrotliOptions {
	return { params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_SIZE_HINT]: sizeOf(body) } };
}

/**
 * Builds the Response: headers, and gzip or br for whole answers of a useful size.
 * @param pace returns a stream to send instead of a whole body; null: the body itself
 */
export function respond(
	answer: Answer,
	headers: Record<string, string>,
	request: Request,
	settings: RespondSettings,
	pace: (bytes: Uint8Array) => ReadableStream | null = () => null,
): Response {
	headers["Content-Type"] = answer.type;
	// Content from elsewhere must not be taken for a page or a script
	// (https://fetch.spec.whatwg.org/#x-content-type-options-header).
	if (!OWN_TYPES.test(answer.type)) headers["X-Content-Type-Options"] = "nosniff";
	if (answer.headers) Object.assign(headers, answer.headers);
	let { body } = answer;
	if (body !== null && !(body instanceof ReadableStream)) {
		headers.Vary = "Accept-Encoding";
		const encoding = encodingOf(answer, request);
		if (encoding !== null) {
			const packed =
				answer.packed?.get(encoding) ??
				(encoding === "br" ? brotliCompressSync(body, brotliOptions(body)) : gzipSync(body, GZIP_OPTIONS));
			answer.packed?.set(encoding, packed);
			body = packed;
			headers["Content-Encoding"] = encoding;
		}
		if (body.length >= MIN_PACED_CHARACTERS && !LENGTH_TOLD.test(answer.type)) {
			const bytes = typeof body === "string" ? encoder.encode(body) : body;
			body = pace(bytes) ?? bytes;
		}
	}
	addCors(headers, request, settings);
	return new Response(body as Uint8Array<ArrayBuffer> | string | ReadableStream | null, { status: answer.status, headers });
}

/** Returns the accepted coding, `br` before `gzip`; null if the caller accepts neither (RFC 9110, 12.5.3). */
export function preferredEncoding(accept: string | null): "br" | "gzip" | null {
	if (accept === null) return null;
	let gzip = false;
	let br = false;
	for (const part of accept.toLowerCase().split(",")) {
		const [name = "", ...parameters] = part.split(";").map((piece) => piece.trim());
		const refused = parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
		if (name === "gzip" || name === "x-gzip") gzip = !refused;
		if (name === "br") br = !refused;
	}
	return br ? "br" : gzip ? "gzip" : null;
}
