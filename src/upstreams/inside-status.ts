/** Finds the status that an error inside a 200, or in a stream, stands for. */
import { isRecord } from "../schema/is-record.ts";
import type { UpstreamErrorText } from "./error-text.ts";

/** Codes and types of errors, in lower case without separators. The first match counts. */
const NAMES: readonly (readonly [RegExp, number])[] = [
	[/apikey|authenticat|unauthori[sz]ed|permission|forbidden|accessdenied/, 401],
	[/ratelimit|toomanyrequests|throttl|resourceexhausted|overloaded|serverbusy/, 429],
	[/timeout|timedout|deadlineexceeded/, 408],
	[/badrequest|validation|unprocessable|outofrange|(?:toolong|toolarge|abovemax|belowmin|exceeded)$/, 400],
	[
		/(?:invalid|missing|unsupported|unknown|malformed|illegal)(?:request|param|arg|value|input|type|prompt|message|field|schema|json|format|tool|image|role|body)/,
		400,
	],
];

const WORDS: readonly (readonly [RegExp, number])[] = [
	[/^(?:authentication|unauthori[sz]ed|permission denied|forbidden|access denied)/i, 401],
	[/rate[ -]?limit|too many requests|throttled/i, 429],
];

/** "400 Bad Request", "Error code: 422 - ...", "HTTP 429: ...". */
const LEADING_STATUS =
	/^(?:(?:http|error|status|code)[\s:/]+){0,3}([45]\d\d)(?:\s*[:–-]|\s+(?:bad|client|forbidden|internal|not|payload|request|server|service|too many|un\w+)\b)/i;

/** Returns the status of an error inside a 200; 500 if it has none. */
export function insideStatus(text: UpstreamErrorText): number {
	if (text.status !== undefined) return text.status;
	const names = [text.code, text.type].map((name) => name.toLowerCase().replaceAll(/[^a-z]/g, ""));
	const leading = LEADING_STATUS.exec(text.message)?.[1];
	return (
		NAMES.find(([pattern]) => names.some((name) => pattern.test(name)))?.[1] ??
		(leading === undefined ? undefined : Number(leading)) ??
		WORDS.find(([pattern]) => pattern.test(text.message))?.[1] ??
		(text.param === undefined ? 500 : 400)
	);
}

/** Matches messages about the content of a request. They name no status, so another upstream may take the request. */
const REQUEST_WORDS = new RegExp(
	[
		"\\b(?:invalid|missing|unknown|malformed|illegal|unexpected|unrecognized) (?:request|param|arg|value|field|input|type|message|prompt|schema|json|format|tool|image|role|option)",
		"\\b(?:must|should) (?:be|have|contain|not|match|start|end)\\b",
		"\\b(?:is|are) (?:required|invalid|not (?:allowed|valid)|out of range|empty|too (?:long|large|big|short|small|high|low|many))\\b",
		"\\bcan(?:not|'t) be (?:empty|null|negative|greater|less|larger|smaller|used)\\b",
		"\\b(?:exceeds?|above|below|over|under) (?:the )?(?:allowed |maximum|minimum|limit)",
		"\\bvalidation error|\\bbad request\\b",
	].join("|"),
	"i",
);
/** Matches messages of a server that fails by itself. */
const SERVER_WORDS = /\b(?:cuda|nccl|tensors?|out of memory|oom|internal|traceback|assertion|core dumped|segfault|worker)\b/i;

/** Returns true if the message of an error without a status is about the request. */
export function saysRequest({ message }: UpstreamErrorText): boolean {
	return REQUEST_WORDS.test(message) && !SERVER_WORDS.test(message);
}

/** Codes of `base_resp`, which MiniMax and its resellers put into each answer: 0 is none (its page "Error codes"). */
const BASE_RESP: ReadonlyMap<number, number> = new Map([
	[1001, 408],
	[1002, 429],
	[1004, 401],
	[1008, 402],
	[1026, 400],
	[1027, 400],
	[1039, 429],
	[1041, 429],
	[1042, 400],
	[2013, 400],
	[2045, 429],
	[2048, 400],
	[2049, 401],
	[2056, 402],
]);
/** Codes for a prompt or an answer that breaks the content rules. */
const BASE_RESP_CONTENT: ReadonlySet<number> = new Set([1026, 1027]);

/** Returns the error in `base_resp`, with the members of other errors; undefined if there is none. */
export function baseRespError(value: unknown): Readonly<Record<string, unknown>> | undefined {
	if (!isRecord(value)) return undefined;
	const code = Number(value.status_code ?? 0);
	if (code === 0) return undefined;
	return {
		message: value.status_msg,
		status: BASE_RESP.get(code),
		...(BASE_RESP_CONTENT.has(code) ? { code: "content_filter" } : {}),
	};
}
